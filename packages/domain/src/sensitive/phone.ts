import { isAmount } from './is-amount.ts';
import type { Recognizer, SensitiveSpan } from './kinds.ts';

const MIN_DIGITS = 8;
/** ITU-T E.164. */
const MAX_DIGITS = 15;
const MAX_LENGTH = 30;

/** Telephone numbers in international form: `+` and 8 to 15 digits, grouped in any of the usual ways. */
export const findInternationalPhones: Recognizer = (folded) => {
  const spans: SensitiveSpan[] = [];
  for (let plus = folded.indexOf('+'); plus >= 0; plus = folded.indexOf('+', plus + 1)) {
    if (/[0-9A-Za-z]/.test(folded[plus - 1] ?? '')) continue;
    const shape = /^\+[1-9](?:[ ().-]{0,2}\d)+/.exec(folded.slice(plus, plus + MAX_LENGTH))?.[0] ?? '';
    const digits = shape.replace(/\D/g, '').length;
    const end = plus + shape.length;
    if (digits < MIN_DIGITS || digits > MAX_DIGITS || /[0-9A-Za-z%]/.test(folded[end] ?? '')) continue;
    if (!isAmount(folded, plus, end)) spans.push({ kind: 'phone', start: plus, end });
  }
  return spans;
};
