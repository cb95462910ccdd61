export { isDoubtful } from './hedges.ts';
export { isInstructionLike } from './instruction-like.ts';
export { SANITIZE_LEVELS, type SanitizeLevel } from './level.ts';
export {
  type CleanEvidence,
  type DroppedEvidence,
  type RawEvidence,
  type SanitizedEvidence,
  type SanitizeOptions,
  sanitizeEvidence,
} from './sanitize-evidence.ts';
export { type Removal, type SanitizeFlag, sanitizeText } from './sanitize-text.ts';
