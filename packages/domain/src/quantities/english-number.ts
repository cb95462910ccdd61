import { addDecimals, type Decimal, decimalOf, fractionOf, parseDecimal } from './decimal.ts';

const ONES = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const TEENS = ['eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'];
const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

const SMALL: ReadonlyMap<string, bigint> = new Map([
  ...[...ONES, ...TEENS].map((word, index): [string, bigint] => [word, BigInt(index)]),
  ...TENS.map((word, index): [string, bigint] => [word, BigInt((index + 2) * 10)]),
  ['fourty', 40n],
]);

const SCALES: ReadonlyMap<string, bigint> = new Map([
  ['thousand', 1_000n],
  ['million', 1_000_000n],
  ['billion', 1_000_000_000n],
  ['trillion', 1_000_000_000_000n],
]);

const DENOMINATORS: ReadonlyMap<string, bigint> = new Map([
  ['half', 2n],
  ['halves', 2n],
  ['quarter', 4n],
  ['fourth', 4n],
  ['fifth', 5n],
  ['eighth', 8n],
  ['tenth', 10n],
  ['hundredth', 100n],
  ['thousandth', 1000n],
]);

/** Words that may begin a number; used to find candidates. */
export const ENGLISH_NUMBER_WORDS: readonly string[] = [...SMALL.keys()];

export interface ReadNumber {
  readonly value: Decimal;
  readonly end: number;
}

interface Word {
  readonly word: string;
  readonly end: number;
}

function wordAt(text: string, index: number, first: boolean): Word | null {
  const pattern = first ? /[a-z]{1,12}(?![a-z])/iy : /[\s-]{1,8}([a-z]{1,12})(?![a-z])/iy;
  pattern.lastIndex = index;
  const match = pattern.exec(text);
  return match === null ? null : { word: (match[1] ?? match[0]).toLowerCase(), end: pattern.lastIndex };
}

/** May `next` follow `current` within one group under a thousand? "twenty five" yes, "five six" no. */
function extendsGroup(current: bigint, next: bigint, started: boolean): boolean {
  if (!started) return true;
  if (next === 0n || current === 0n) return false;
  if (next < 10n) return current % 10n === 0n && current % 100n !== 10n;
  return current % 100n === 0n;
}

function denominatorOf(word: string): bigint | undefined {
  return DENOMINATORS.get(word) ?? DENOMINATORS.get(word.replace(/s$/, ''));
}

/** "and one-half", "and a quarter" after a whole number. */
function readTrailingFraction(text: string, index: number): ReadNumber | null {
  const and = wordAt(text, index, false);
  if (and?.word !== 'and') return null;
  const top = wordAt(text, and.end, false);
  const bottom = top === null ? null : wordAt(text, top.end, false);
  if (top === null || bottom === null) return null;
  const numerator = top.word === 'a' ? 1n : SMALL.get(top.word);
  const denominator = denominatorOf(bottom.word);
  if (numerator === undefined || denominator === undefined) return null;
  const value = fractionOf(numerator, denominator);
  return value === null ? null : { value, end: bottom.end };
}

/** "two point five", "five point zero five". */
function readPoint(text: string, index: number): { readonly digits: string; readonly end: number } | null {
  const point = wordAt(text, index, false);
  if (point?.word !== 'point') return null;
  let digits = '';
  let end = point.end;
  for (let count = 0; count < 8; count += 1) {
    const next = wordAt(text, end, false);
    const digit = next === null ? undefined : SMALL.get(next.word);
    if (next === null || digit === undefined || digit > 9n) break;
    digits += digit.toString();
    end = next.end;
  }
  return digits === '' ? null : { digits, end };
}

interface Whole {
  readonly total: bigint;
  readonly end: number;
}

function readWhole(text: string, index: number): Whole | null {
  let total = 0n;
  let group = 0n;
  let started = false;
  let lastScale = 10n ** 15n;
  let end = index;
  let cursor = index;
  // Twenty-four words spell any number a contract holds; the bound keeps a hostile run of words linear.
  for (let count = 0; count < 24; count += 1) {
    const next = wordAt(text, cursor, count === 0);
    if (next === null) break;
    const small = SMALL.get(next.word);
    const scale = SCALES.get(next.word);
    if (small !== undefined && extendsGroup(group, small, started)) group += small;
    else if (next.word === 'hundred' && started && group > 0n && group < 100n) group *= 100n;
    else if (scale !== undefined && group > 0n && scale < lastScale) {
      total += group * scale;
      group = 0n;
      lastScale = scale;
    } else if (next.word === 'and' && (started ? group > 0n && group % 100n === 0n : total > 0n)) {
      cursor = next.end;
      continue;
    } else break;
    started = scale === undefined;
    cursor = next.end;
    end = next.end;
  }
  return end === index ? null : { total: total + group, end };
}

/**
 * Reads an English number in words at `index`: "thirty", "one hundred and twenty", "one and
 * one-half", "two point five".
 */
export function readEnglishNumber(text: string, index: number): ReadNumber | null {
  const whole = readWhole(text, index);
  if (whole === null) return null;
  const point = readPoint(text, whole.end);
  if (point !== null) {
    const value = parseDecimal(`${whole.total}.${point.digits}`);
    return value === null ? null : { value, end: point.end };
  }
  const bottom = wordAt(text, whole.end, false);
  const denominator = bottom === null ? undefined : denominatorOf(bottom.word);
  if (bottom !== null && denominator !== undefined) {
    const value = fractionOf(whole.total, denominator);
    if (value !== null) return { value, end: bottom.end };
  }
  const fraction = readTrailingFraction(text, whole.end);
  if (fraction === null) return { value: decimalOf(whole.total), end: whole.end };
  return { value: addDecimals(decimalOf(whole.total), fraction.value), end: fraction.end };
}
