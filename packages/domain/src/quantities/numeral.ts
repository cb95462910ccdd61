import { CHINESE_NUMERAL_CLASS, readChineseNumber, scaleChinese } from './chinese-number.ts';
import { addDecimals, type Decimal, decimalOf, fractionOf, multiplyDecimals, parseDecimal } from './decimal.ts';
import { ENGLISH_NUMBER_WORDS, type ReadNumber, readEnglishNumber } from './english-number.ts';

/** Where a number may begin. Every alternative is a fixed string or one character, so scanning is linear. */
export const NUMBER_START = new RegExp(
  `\\d|\\.\\d|[½¼¾⅛${CHINESE_NUMERAL_CLASS}萬万]|\\b(?:${ENGLISH_NUMBER_WORDS.join('|')})(?![a-z])`,
  'gi',
);

const VULGAR: ReadonlyMap<string, Decimal> = new Map([
  ['½', { digits: 5n, scale: 1 }],
  ['¼', { digits: 25n, scale: 2 }],
  ['¾', { digits: 75n, scale: 2 }],
  ['⅛', { digits: 125n, scale: 3 }],
]);

const ENGLISH_SCALES: ReadonlyMap<string, bigint> = new Map([
  ['thousand', 1_000n],
  ['million', 1_000_000n],
  ['billion', 1_000_000_000n],
  ['trillion', 1_000_000_000_000n],
  ['mm', 1_000_000n],
  ['bn', 1_000_000_000n],
]);

/** "1/2" after an optional whole part: "1 1/2%", "1-1/2%", and hard line breaks between. */
function readFraction(text: string, index: number): ReadNumber | null {
  const pattern = /(?:[\s-]{0,3}|\s{1,3}(?:and|&)\s{1,3})(\d{1,2})\/(\d{1,3})(?![\d/])/y;
  pattern.lastIndex = index;
  const match = pattern.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  const numerator = BigInt(match[1]);
  const denominator = BigInt(match[2]);
  // Only halves to sixteenths are written so; anything else is a date or "24/7".
  if (![2n, 4n, 5n, 8n, 10n, 16n, 100n].includes(denominator) || numerator >= denominator) return null;
  const value = fractionOf(numerator, denominator);
  return value === null ? null : { value, end: pattern.lastIndex };
}

function readVulgar(text: string, index: number): ReadNumber | null {
  const value = VULGAR.get(text.charAt(index));
  return value === undefined ? null : { value, end: index + 1 };
}

function readEnglishScale(text: string, read: ReadNumber): ReadNumber {
  const pattern = /[\s-]{0,3}(thousand|million|billion|trillion|mm|bn)(?![a-z])/iy;
  pattern.lastIndex = read.end;
  const factor = ENGLISH_SCALES.get(pattern.exec(text)?.[1]?.toLowerCase() ?? '');
  if (factor === undefined) return read;
  return { value: multiplyDecimals(read.value, decimalOf(factor)), end: pattern.lastIndex };
}

/** The end of the run of digits or Chinese numerals at `index` that is no number; scanning goes on from there. */
export function skipRun(text: string, index: number): number {
  const pattern = new RegExp(`[\\d.,]+|[${CHINESE_NUMERAL_CLASS}]{33,}`, 'y');
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : index + 1;
}

/**
 * "the 30th day following the invoice" is a duration of 30 days; every other ordinal is a place in a list or a date.
 */
function skipOrdinal(text: string, end: number): number {
  const pattern = /(?:st|nd|rd|th)\)?(?=\s{1,3}(?:business |calendar )?day\s{1,3}(?:after|following|from)\b)/iy;
  pattern.lastIndex = end;
  return pattern.test(text) ? pattern.lastIndex : end;
}

function readDigits(text: string, index: number): ReadNumber | null {
  const pattern = /(?:\d{1,3}(?:,\d{3}){1,8}|\d{1,24})?(?:\.\d{1,12})?/y;
  pattern.lastIndex = index;
  const raw = pattern.exec(text)?.[0] ?? '';
  const value = raw === '' ? null : parseDecimal(raw);
  if (value === null) return null;
  const end = skipOrdinal(text, index + raw.length);
  // "3.1.2" is a section number, "15th" an ordinal, "1/31/2026" a date.
  if (/^(?:\d|\.\d|,\d{3}(?!\d)|(?:st|nd|rd|th)(?![a-z]))/i.test(text.slice(end, end + 5))) return null;
  const half = readFraction(text, index);
  if (half !== null && text.charAt(end) === '/') return half;
  const mixed = value.scale === 0 ? (readFraction(text, end) ?? readVulgar(text, end)) : null;
  if (mixed !== null) return { value: addDecimals(value, mixed.value), end: mixed.end };
  return scaleChinese(text, value, end) ?? readEnglishScale(text, { value, end });
}

/** Reads the number that begins at `index`, in digits, English words or Chinese numerals; null when there is none. */
export function readNumeral(text: string, index: number): ReadNumber | null {
  const char = text.charAt(index);
  if (/[\d.]/.test(char)) return readDigits(text, index);
  if (/[a-z]/i.test(char)) return readEnglishNumber(text, index);
  return readVulgar(text, index) ?? readChineseNumber(text, index);
}
