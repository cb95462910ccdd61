export { applySensitivePolicy, maskSensitive, type SensitiveOutcome } from './apply-policy.ts';
export { findSensitive } from './find-sensitive.ts';
export {
  DEFAULT_SENSITIVE,
  type SensitiveKind,
  type SensitiveLevel,
  type SensitivePolicy,
  type SensitiveSpan,
} from './kinds.ts';
