import type { KnowledgeType } from '@cleanslate/contracts';
import { applySensitivePolicy, DEFAULT_SENSITIVE, type SensitivePolicy } from '../sensitive/index.ts';
import { findHedges, withoutHedges } from './hedges.ts';
import { withoutHidden } from './hidden-characters.ts';
import { isInstructionLike } from './instruction-like.ts';
import { TYPE_RULES } from './level.ts';
import { keepsMeaning } from './same-meaning.ts';

export const SANITIZE_FLAGS = [
  /** It said of itself that it is a guess; those words are removed, this flag stays. */
  'doubtful',
  'instruction_like',
  /** Ends before the original does. */
  'shortened',
  /** Cleaning would have changed a number, a date, a negation or a modal: this is the original. */
  'kept_raw',
  /** There was no time to clean it: this is the original. */
  'time_limit',
] as const;
export type SanitizeFlag = (typeof SANITIZE_FLAGS)[number];

/** What was removed, without its content. */
export interface Removal {
  readonly what: 'hedge' | 'filler' | 'hidden_characters' | 'personal_data' | 'length';
  readonly count: number;
}

export type SanitizedText =
  | {
      readonly outcome: 'kept';
      readonly text: string;
      readonly removed: readonly Removal[];
      readonly flags: readonly SanitizeFlag[];
    }
  /** Holds a credential: no reader of evidence needs one. */
  | { readonly outcome: 'refused' };

const SENTENCE_END = /[.!?]["')\]]{0,2}(?=\s)|[。！？；][”」』）]?|\n/g;

/**
 * The longest beginning that ends with a sentence; a first sentence beyond the limit ends at a space, never inside a
 * word or a number.
 */
function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength);
  let end = 0;
  for (const match of head.matchAll(SENTENCE_END)) end = match.index + match[0].length;
  if (end > 0) return head.slice(0, end).trimEnd();
  const blank = head.search(/\s\S*$/);
  return (blank > 0 ? head.slice(0, blank) : head).toWellFormed();
}

/**
 * One text at level `full`. Pure and linear; no number, unit, date, party, negation or modal ever differs from the
 * original.
 */
export function sanitizeText(
  original: string,
  type: KnowledgeType,
  policy: SensitivePolicy = DEFAULT_SENSITIVE,
): SanitizedText {
  const rule = TYPE_RULES[type];
  const removed: Removal[] = [];
  const flags = new Set<SanitizeFlag>();
  const note = (what: Removal['what'], count: number) => {
    if (count > 0) removed.push({ what, count });
  };
  // A hostile length costs no more than what is kept of it.
  let text = shorten(original, rule.maxLength);
  if (text.length < original.length) {
    flags.add('shortened');
    note('length', original.length - text.length);
  }
  const begun = text;
  const shown = withoutHidden(text);
  if (isInstructionLike(shown.text)) flags.add('instruction_like');
  const hedges = findHedges(shown.text);
  const doubts = hedges.filter(({ kind }) => kind === 'doubt').length;
  if (doubts > 0) flags.add('doubtful');
  const cleaned = rule.hedges ? withoutHedges(shown.text, hedges) : shown.text;
  if (keepsMeaning(begun, cleaned)) {
    text = cleaned;
    note('hidden_characters', shown.count);
    if (rule.hedges) {
      note('hedge', doubts);
      note('filler', hedges.length - doubts);
    }
  } else flags.add('kept_raw');
  const personal = applySensitivePolicy(text, policy);
  if (personal.outcome === 'refused') return { outcome: 'refused' };
  note('personal_data', personal.masked.length);
  return { outcome: 'kept', text: personal.text, removed, flags: [...flags] };
}
