import { findCreditCodes, findIbans } from './codes.ts';
import { findCredentials } from './credentials.ts';
import { findEmails } from './email.ts';
import { foldText } from './fold-text.ts';
import type { Recognizer, SensitiveSpan } from './kinds.ts';
import { findNumbers } from './numbers.ts';
import { findInternationalPhones } from './phone.ts';

/** If two match the same characters, the earlier one here names them. */
const RECOGNIZERS: readonly Recognizer[] = [
  findCredentials,
  findEmails,
  findIbans,
  findInternationalPhones,
  findNumbers,
  findCreditCodes,
];

/**
 * Identifiers and credentials in any text, in order, none overlapping; offsets are into `text`.
 * Linear in the text's length.
 */
export function findSensitive(text: string): readonly SensitiveSpan[] {
  const folded = foldText(text);
  const found = RECOGNIZERS.flatMap((recognize, rank) => recognize(folded).map((span) => ({ span, rank })));
  found.sort((a, b) => a.span.start - b.span.start || a.rank - b.rank);
  const kept: { span: SensitiveSpan; rank: number }[] = [];
  for (const next of found) {
    const last = kept.at(-1);
    if (last === undefined || next.span.start >= last.span.end) kept.push(next);
    else kept[kept.length - 1] = merge(last, next);
  }
  return kept.map(({ span }) => span);
}

/** Both ranges, under the name of the earlier recogniser: otherwise a part of the other one would stay readable. */
function merge(a: { span: SensitiveSpan; rank: number }, b: { span: SensitiveSpan; rank: number }) {
  const first = b.rank < a.rank ? b : a;
  return { rank: first.rank, span: { ...first.span, start: a.span.start, end: Math.max(a.span.end, b.span.end) } };
}
