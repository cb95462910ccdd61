import { findStringEnd } from './hostile-json.ts';

const [QUOTE, ZERO, NINE] = [34, 48, 57];
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Whole numbers of so many digits are exact, whatever they are. */
const EXACT_DIGITS = 15;
const MAX_SHOWN = 40;

/**
 * The first number in JSON text that would silently become another one, and which: a whole part beyond 2^53 that no
 * double equals (an id of 19 digits loses its last ones), or more than a double holds (null, once it is stored). What
 * JavaScript itself writes is never one; long fractions are left alone.
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
  const [whole = ''] = literal.split(/[.eE]/);
  if (whole.length <= EXACT_DIGITS || /[eE]/.test(literal) || String(value) === literal) return undefined;
  return BigInt(whole) === BigInt(Math.trunc(value)) ? undefined : `would become ${value}`;
}
