import { findStringEnd } from './hostile-json.ts';

const [QUOTE, ZERO, NINE] = [34, 48, 57];
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** From here on doubles leave whole numbers out. */
const FIRST_GAP = 2 ** 53;
const MAX_SHOWN = 40;

/**
 * The first number in JSON text that would silently become another one, and which: one beyond 2^53 that no double
 * equals (an id of 19 digits loses its last ones), or more than a double holds (null, once it is stored). What
 * JavaScript itself writes is never one; long fractions below 2^53 are left alone.
 */
export function findInexactNumber(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = findStringEnd(text, i + 1);
    else if (code >= ZERO && code <= NINE) {
      NUMBER.lastIndex = i;
      const literal = NUMBER.exec(text)?.[0] ?? '';
      const becomes = toOther(literal);
      if (becomes !== undefined) return `the number ${literal.slice(0, MAX_SHOWN)}, which ${becomes}`;
      i += literal.length - 1;
    }
  }
  return undefined;
}

function toOther(literal: string): string | undefined {
  const value = Number(literal);
  if (!Number.isFinite(value)) return 'is larger than a number can be';
  if (value < FIRST_GAP) return undefined;
  const asked = toDecimal(literal);
  const shown = toDecimal(String(value));
  if (asked.digits === shown.digits && asked.exponent === shown.exponent) return undefined;
  // 2^60 is one that a double equals, though JavaScript writes it with other last digits.
  const isWhole = asked.exponent >= 0;
  if (isWhole && BigInt(asked.digits) * 10n ** BigInt(asked.exponent) === BigInt(value)) return undefined;
  return `would become ${value}`;
}

/** `digits` without zeros at its ends, times ten to the power of `exponent`. */
function toDecimal(literal: string): { readonly digits: string; readonly exponent: number } {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = `${whole}${fraction}`;
  let end = all.length;
  while (all.charCodeAt(end - 1) === ZERO) end--;
  const digits = all.slice(0, end);
  return { digits: digits.replace(/^0+/, ''), exponent: Number(power) - fraction.length + all.length - digits.length };
}
