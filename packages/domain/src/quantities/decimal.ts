/** An exact decimal: `digits` × 10^-`scale`. Money and rates are compared with it, so no binary fraction can drift. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Longer numerals are noise (a table rule, a hostile file), and BigInt parsing is slower than linear. */
const MAX_NUMERAL_LENGTH = 60;

export function decimalOf(value: number | bigint): Decimal {
  return { digits: BigInt(value), scale: 0 };
}

/** Reads "1,234.50" or "-3"; null when it is not a plain decimal numeral. */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > MAX_NUMERAL_LENGTH) return null;
  const match = /^(-?)(\d[\d,]*)?(?:\.(\d+))?$/.exec(text);
  if (match === null || (match[2] === undefined && match[3] === undefined)) return null;
  const whole = (match[2] ?? '0').replaceAll(',', '');
  const fraction = match[3] ?? '';
  return { digits: BigInt(`${match[1] ?? ''}${whole}${fraction}`), scale: fraction.length };
}

/** The shortest plain form: no exponent, no trailing zeros, so that equal values are equal strings. */
export function formatDecimal(value: Decimal): string {
  const negative = value.digits < 0n;
  const digits = (negative ? -value.digits : value.digits).toString().padStart(value.scale + 1, '0');
  const whole = digits.slice(0, digits.length - value.scale);
  const fraction = value.scale === 0 ? '' : digits.slice(digits.length - value.scale).replace(/0+$/, '');
  const plain = fraction === '' ? whole : `${whole}.${fraction}`;
  return negative && plain !== '0' ? `-${plain}` : plain;
}

function align(left: Decimal, right: Decimal): readonly [bigint, bigint, number] {
  const scale = Math.max(left.scale, right.scale);
  return [left.digits * 10n ** BigInt(scale - left.scale), right.digits * 10n ** BigInt(scale - right.scale), scale];
}

export function addDecimals(left: Decimal, right: Decimal): Decimal {
  const [a, b, scale] = align(left, right);
  return { digits: a + b, scale };
}

export function multiplyDecimals(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, scale: left.scale + right.scale };
}

/** -1, 0 or 1, by magnitude; "1.50" equals "1.5". */
export function compareDecimals(left: Decimal, right: Decimal): -1 | 0 | 1 {
  const [a, b] = align(left, right);
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Moves the decimal point left by `places`: 5 by 2 is 0.05. */
export function shiftLeft(value: Decimal, places: number): Decimal {
  return { digits: value.digits, scale: value.scale + places };
}

/** `numerator / denominator` where that terminates (halves, quarters, eighths, fifths, tenths); null for thirds. */
export function fractionOf(numerator: bigint, denominator: bigint): Decimal | null {
  if (denominator <= 0n || denominator > 10_000n) return null;
  for (let scale = 0; scale <= 14; scale += 1) {
    const scaled = numerator * 10n ** BigInt(scale);
    if (scaled % denominator === 0n) return { digits: scaled / denominator, scale };
  }
  return null;
}
