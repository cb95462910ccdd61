import { findMatches } from '../find-matches.ts';
import { isAsciiWord } from './fold-text.ts';
import type { Recognizer, SensitiveSpan } from './kinds.ts';

const CREDIT_CODE = /(?<![0-9A-Za-z])[1-9A-HJ-NPQRTUWXY][0-9A-HJ-NPQRTUWXY]{17}(?![0-9A-Za-z])/g;
const CREDIT_SIGNS = '0123456789ABCDEFGHJKLMNPQRTUWXY';
const CREDIT_WEIGHTS = [1, 3, 9, 27, 19, 26, 16, 17, 20, 29, 25, 13, 8, 24, 10, 30, 28];

/** Unified social credit codes (GB 32100-2015): 18 signs, the last one a check over 31. */
export const findCreditCodes: Recognizer = (folded) =>
  findMatches(folded, CREDIT_CODE)
    .filter(([code]) => isCreditCode(code))
    .map(({ 0: code, index }) => ({ kind: 'credit_code', start: index, end: index + code.length }));

function isCreditCode(code: string): boolean {
  const sum = CREDIT_WEIGHTS.reduce((total, weight, at) => total + weight * CREDIT_SIGNS.indexOf(code[at] ?? '0'), 0);
  return CREDIT_SIGNS[(31 - (sum % 31)) % 31] === code[17];
}

/** The register of ISO 13616: how long an account number is, and in which countries. */
const IBAN_LENGTHS = new Map(
  (
    [
      [15, 'NO'],
      [16, 'BE'],
      [18, 'DK FI FO GL NL'],
      [19, 'MK SI'],
      [20, 'AT BA EE KZ LT LU XK'],
      [21, 'CH HR LI LV'],
      [22, 'BG BH CR DE GB GE IE ME RS VA'],
      [23, 'AE GI IL IQ'],
      [24, 'AD CZ ES MD PK RO SA SE SK TN VG'],
      [25, 'LY PT'],
      [26, 'IS TR'],
      [27, 'FR GR IT MC MR SM'],
      [28, 'AL AZ BY CY DO GT HU LB PL'],
      [29, 'BR EG PS QA UA'],
      [30, 'JO KW MU'],
      [31, 'MT SC'],
      [32, 'LC'],
    ] as const
  ).flatMap(([length, countries]) => countries.split(' ').map((country) => [country, length] as const)),
);

const IBAN_HEAD = /(?<![0-9A-Za-z])[A-Z]{2}\d{2}/g;

/** International bank account numbers, in one piece or in groups of four. */
export const findIbans: Recognizer = (folded) => {
  const spans: SensitiveSpan[] = [];
  for (const head of findMatches(folded, IBAN_HEAD)) {
    const length = IBAN_LENGTHS.get(head[0].slice(0, 2));
    const end = length === undefined ? undefined : endOf(folded, head.index, length);
    if (end === undefined || isAsciiWord(folded[end])) continue;
    if (isIban(folded.slice(head.index, end).replaceAll(' ', ''))) spans.push({ kind: 'iban', start: head.index, end });
  }
  return spans;
};

/** The offset at which that many characters have been read, single spaces not counted. */
function endOf(folded: string, start: number, length: number): number | undefined {
  let at = start;
  for (let signs = 0; signs < length; at++) {
    const char = folded[at];
    if (char !== undefined && /[0-9A-Z]/.test(char)) signs++;
    else if (char !== ' ' || folded[at - 1] === ' ') return undefined;
  }
  return at;
}

/** ISO 7064 MOD 97-10 over the number with its head moved to the end. */
function isIban(plain: string): boolean {
  let rest = 0;
  for (const char of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
