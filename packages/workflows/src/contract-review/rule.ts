import { findQuantities, type Quantity } from '@cleanslate/domain';
import type { ClauseKind, ClauseReading, ClauseUnit } from './clause.ts';
import type { Sentence } from './sentence.ts';

/** A sentence that a rule took for a clause. The best score becomes the clause, the others support it. */
export interface Hit extends ClauseReading {
  readonly score: number;
}

/** A rule reads one sentence; `next` are the up to three sentences after it, for clauses that stretch over several. */
export type ClauseRule = (sentence: Sentence, next: readonly Sentence[]) => Hit | null;

/** All that is known about one kind of clause: what may hold it, and its two languages side by side. */
export interface KindRules {
  readonly kind: ClauseKind;
  /** Every clause of this kind contains one of these words; this spares the rules most sentences. */
  readonly about: RegExp;
  readonly en: ClauseRule;
  readonly zh: ClauseRule;
}

export const EMPTY_READING = {
  value: null,
  unit: null,
  per: null,
  currency: null,
  choice: null,
  notes: [],
} as const satisfies Omit<ClauseReading, 'basis'>;

/** What a case of a rule sees: the sentence, what matched, and what follows. */
export interface Found {
  readonly plain: string;
  readonly match: RegExpExecArray;
  readonly sentence: Sentence;
  readonly next: readonly Sentence[];
}

/** One way in which a kind of clause is written. */
export interface Case {
  readonly says: RegExp;
  /** The same words in a sentence that says something else. */
  readonly not?: RegExp;
  readonly score: number;
  /** What is read from it; null if it says nothing after all. Default: the clause is there, without a value. */
  readonly read?: (found: Found) => Partial<Hit> | null;
}

/** A rule from its cases. The best of those that apply wins; a heading of the kind's own adds 2. */
export function byCases(cases: readonly Case[], heading?: RegExp): ClauseRule {
  return (sentence, next) => {
    let best: Hit | null = null;
    for (const { says, not, score, read } of cases) {
      const match = says.exec(sentence.plain);
      if (match === null || (not?.test(sentence.plain) ?? false)) continue;
      const reading = read === undefined ? {} : read({ plain: sentence.plain, match, sentence, next });
      if (reading === null) continue;
      const hit: Hit = { ...EMPTY_READING, basis: 'provision', score, ...reading };
      if (best === null || hit.score > best.score) best = hit;
    }
    if (best === null) return null;
    return heading?.test(sentence.heading) === true ? { ...best, score: best.score + 2 } : best;
  };
}

const DURATIONS: ReadonlySet<string> = new Set(['days', 'business_days', 'weeks', 'months', 'years']);

function isDuration(quantity: Quantity): quantity is Quantity & { readonly unit: ClauseUnit } {
  return DURATIONS.has(quantity.unit) && quantity.value.length <= 4;
}

export interface Duration {
  readonly value: string;
  readonly unit: ClauseUnit;
  readonly conflict: boolean;
  /** The text around it, for what it is the length of. */
  readonly before: string;
  readonly after: string;
}

/** "two further years" lasts two years. */
const BETWEEN =
  /(?<=[\w)]) (?:further|additional|more|consecutive|successive|full|whole|extra)(?= (?:calendar )?(?:days?|weeks?|months?|years?)\b)/gi;

/** The durations of a sentence, with what stands before and after each. */
export function durationsOf(sentence: string, width = 160): Duration[] {
  const plain = sentence.replace(BETWEEN, '');
  return findQuantities(plain)
    .filter(isDuration)
    .map(({ value, unit, conflict, span }) => ({
      value,
      unit,
      conflict: conflict !== undefined,
      before: plain.slice(Math.max(0, span.start - width), span.start),
      after: plain.slice(span.end, span.end + width),
    }));
}

/** A duration as what the clause states. */
export function stated({ value, unit, conflict }: Duration): Partial<Hit> {
  return { value, unit, basis: 'stated', notes: conflict ? ['numbers_disagree'] : [] };
}

const BLANK = /_{2,}|\[[*• ]{1,6}\]|\.{5,}/;

/** Left open in the text: "for ____ years". */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}
