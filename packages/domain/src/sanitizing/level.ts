import type { KnowledgeType } from '@cleanslate/contracts';

/** How far evidence is cleaned. Each level does what the one before does, and more. */
export const SANITIZE_LEVELS = ['off', 'expiry', 'versions', 'full'] as const;
/**
 * `off` nothing; `expiry` drops what doesn't hold at the pin; `versions` keeps only the version that was believed;
 * `full` also cleans the text itself.
 */
export type SanitizeLevel = (typeof SANITIZE_LEVELS)[number];

export function reaches(level: SanitizeLevel, wanted: SanitizeLevel): boolean {
  return SANITIZE_LEVELS.indexOf(level) >= SANITIZE_LEVELS.indexOf(wanted);
}

export interface TypeRule {
  /** Are words of doubt and filler removed? In a rule, a clause or a definition every word counts. */
  readonly hedges: boolean;
  /** UTF-16 code units; a longer text ends at the last sentence before this limit. */
  readonly maxLength: number;
}

const VERBATIM = { hedges: false, maxLength: 8_000 } as const;
const TALK = { hedges: true, maxLength: 4_000 } as const;

export const TYPE_RULES: Readonly<Record<KnowledgeType, TypeRule>> = {
  clause: VERBATIM,
  rule: VERBATIM,
  definition: VERBATIM,
  metadata: { hedges: false, maxLength: 1_000 },
  preference: TALK,
  conclusion: TALK,
  lesson: TALK,
  other: TALK,
};
