import { findMatches } from '../find-matches.ts';
import { isAsciiWord } from './fold-text.ts';

/** Digits without a break. */
type Group = { readonly start: number; readonly end: number };

/** Neighbouring groups read as one number. `plain` is without its separators. */
export type DigitWindow = { readonly plain: string; readonly start: number; readonly end: number };

/** The shortest number of any kind here is a mobile telephone's, the longest a bank card's. */
const MIN_DIGITS = 11;
const MAX_DIGITS = 19;
/** People write 19 digits in five groups, rarely in more. */
const MAX_GROUPS = 7;
const DIGITS = /\d+/g;
const RUN = /\d+(?:[ -]\d+)*/g;
const UUID = /(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])/gi;

/**
 * Every way of reading neighbouring groups of digits, joined by one space or hyphen each, as one number of 11 to 19
 * digits; longest first from each start. Numbers that are part of a word, a UUID, a decimal or a longer number are
 * none. At most 7 windows a group: linear.
 */
export function* digitWindows(folded: string): Generator<DigitWindow> {
  const text = folded.replace(UUID, (uuid) => 'x'.repeat(uuid.length));
  for (const run of findMatches(text, RUN)) {
    const groups = groupsOf(run[0], run.index);
    for (let first = 0; first < groups.length; first++) {
      const windows = windowsFrom(text, groups, first);
      for (const window of windows.toReversed()) if (isWhole(text, window)) yield window;
    }
  }
}

function groupsOf(run: string, at: number): readonly Group[] {
  return findMatches(run, DIGITS).map((match) => ({
    start: at + match.index,
    end: at + match.index + match[0].length,
  }));
}

function windowsFrom(text: string, groups: readonly Group[], first: number): readonly DigitWindow[] {
  const windows: DigitWindow[] = [];
  const start = groups[first]?.start ?? 0;
  let plain = '';
  for (const group of groups.slice(first, first + MAX_GROUPS)) {
    if (plain.length + group.end - group.start > MAX_DIGITS) break;
    plain += text.slice(group.start, group.end);
    if (plain.length >= MIN_DIGITS) windows.push({ plain, start, end: group.end });
  }
  return windows;
}

function isWhole(text: string, { start, end }: DigitWindow): boolean {
  if (isAsciiWord(text[start - 1])) return false;
  // `X` may be the last sign of a resident identity number.
  if (isAsciiWord(text[end]) && !/[Xx]/.test(text[end] ?? '')) return false;
  const decimalBefore = text[start - 1] === '.' && /\d/.test(text[start - 2] ?? '');
  const decimalAfter = text[end] === '.' && /\d/.test(text[end + 1] ?? '');
  return !decimalBefore && !decimalAfter;
}
