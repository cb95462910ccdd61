import { type DigitWindow, digitWindows } from './digit-groups.ts';
import { isAsciiWord } from './fold-text.ts';
import { isAmount } from './is-amount.ts';
import type { Recognizer, SensitiveKind, SensitiveSpan } from './kinds.ts';

/** Identity numbers, cards and telephones: digits, perhaps in groups. Amounts are never any of these. */
export const findNumbers: Recognizer = (folded) => {
  const spans: SensitiveSpan[] = [];
  let taken = 0;
  for (const window of digitWindows(folded)) {
    if (window.start < taken) continue;
    const found = recognize(folded, window);
    if (found === undefined || isAmount(folded, found.start, found.end)) continue;
    spans.push(found);
    taken = found.end;
  }
  return spans;
};

function recognize(folded: string, window: DigitWindow): SensitiveSpan | undefined {
  const { start, end, plain } = window;
  const last = folded[end];
  const endsInX = (last === 'X' || last === 'x') && !isAsciiWord(folded[end + 1]);
  const as = (kind: SensitiveKind, until = end): SensitiveSpan => ({ kind, start, end: until });
  if (endsInX) return isResidentId(`${plain}X`) ? as('resident_id', end + 1) : undefined;
  if (last !== undefined && isAsciiWord(last)) return undefined;
  if (isResidentId(plain)) return as('resident_id');
  if (isBankCard(plain)) return as('bank_card');
  return isChineseMobile(plain) ? as('phone') : undefined;
}

const PROVINCES = new Set(
  '11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83'.split(' '),
);
const RESIDENT_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];

/** GB 11643-1999: province, date of birth, order, check sign (ISO 7064 MOD 11-2). */
function isResidentId(plain: string): boolean {
  if (!/^\d{17}[\dX]$/.test(plain) || !PROVINCES.has(plain.slice(0, 2))) return false;
  const [year, month, day] = [plain.slice(6, 10), plain.slice(10, 12), plain.slice(12, 14)].map(Number);
  const born = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day));
  const isDate = born.getUTCMonth() + 1 === month && born.getUTCDate() === day;
  if (!isDate || (year ?? 0) < 1900 || (year ?? 0) > 2099) return false;
  const sum = RESIDENT_WEIGHTS.reduce((total, weight, at) => total + weight * Number(plain[at]), 0);
  return '10X98765432'[sum % 11] === plain[17];
}

/**
 * Issuer ranges with the lengths they use (ISO/IEC 7812); without them every tenth number of that length would pass.
 */
const ISSUERS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^62/, [16, 17, 18, 19]],
  [/^4/, [13, 16, 19]],
  [/^5[1-5]/, [16]],
  [/^2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[68])/, [14, 16, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^6(?:011|4[4-9]|5)/, [16, 17, 18, 19]],
  [/^9558/, [19]],
];

function isBankCard(plain: string): boolean {
  if (!ISSUERS.some(([prefix, lengths]) => prefix.test(plain) && lengths.includes(plain.length))) return false;
  let sum = 0;
  for (let at = 0; at < plain.length; at++) {
    const digit = Number(plain[plain.length - 1 - at]);
    sum += at % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0);
  }
  return sum % 10 === 0;
}

/** With or without the country's code. */
function isChineseMobile(plain: string): boolean {
  return /^(?:(?:00)?86)?1[3-9]\d{9}$/.test(plain);
}
