import { addDecimals, type Decimal, decimalOf, multiplyDecimals, parseDecimal } from './decimal.ts';
import type { ReadNumber } from './english-number.ts';

const DIGITS: ReadonlyMap<string, bigint> = new Map(
  [
    ['〇零○', 0n],
    ['一壹', 1n],
    ['二贰貳两兩', 2n],
    ['三叁參', 3n],
    ['四肆', 4n],
    ['五伍', 5n],
    ['六陆陸', 6n],
    ['七柒', 7n],
    ['八捌', 8n],
    ['九玖', 9n],
  ].flatMap(([chars, value]) => [...String(chars)].map((char): [string, bigint] => [char, BigInt(value ?? 0n)])),
);

const TENS: ReadonlyMap<string, bigint> = new Map([
  ['十', 10n],
  ['拾', 10n],
  ['百', 100n],
  ['佰', 100n],
  ['千', 1000n],
  ['仟', 1000n],
]);

const MYRIADS: ReadonlyMap<string, bigint> = new Map([
  ['万', 10_000n],
  ['萬', 10_000n],
  ['亿', 100_000_000n],
  ['億', 100_000_000n],
]);

/** The characters a Chinese numeral may begin with. */
export const CHINESE_NUMERAL_CLASS = '〇零○一壹二贰貳两兩三叁參四肆五伍六陆陸七柒八捌九玖十拾百佰千仟';

const MAX_LENGTH = 32;

/** "二〇二四": digits without place names are read by position. */
function readPositional(numeral: string): bigint | null {
  let digits = '';
  for (const char of numeral) {
    const digit = DIGITS.get(char);
    if (digit === undefined) return null;
    digits += digit.toString();
  }
  return digits.length < 2 ? null : BigInt(digits);
}

/** "三千五百万": sections under 万, folded upwards at 万 and 亿. */
function readPlaces(numeral: string): bigint | null {
  let total = 0n;
  let section = 0n;
  let pending: bigint | null = null;
  for (const char of numeral) {
    const digit = DIGITS.get(char);
    const ten = TENS.get(char);
    const myriad = MYRIADS.get(char);
    if (digit !== undefined) {
      if (pending !== null && pending !== 0n) return null;
      pending = digit;
    } else if (ten !== undefined) {
      section += (pending === null || pending === 0n ? 1n : pending) * ten;
      pending = null;
    } else if (myriad !== undefined) {
      section += pending ?? 0n;
      pending = null;
      // 万亿 multiplies what stands before it; a smaller myriad after a larger one only closes its own section.
      if (section === 0n) total *= myriad;
      else total = myriad > 10_000n ? (total + section) * myriad : total + section * myriad;
      section = 0n;
    } else return null;
  }
  return total + section + (pending ?? 0n);
}

/** Reads a Chinese numeral at `index`: 三十, 一百二十, 壹佰万, 二〇二四, 一点五. */
export function readChineseNumber(text: string, index: number): ReadNumber | null {
  const pattern = /[〇零○一壹二贰貳两兩三叁參四肆五伍六陆陸七柒八捌九玖十拾百佰千仟万萬亿億]{1,33}/y;
  pattern.lastIndex = index;
  const numeral = pattern.exec(text)?.[0];
  if (numeral === undefined || numeral.length > MAX_LENGTH) return null;
  const whole = readPositional(numeral) ?? readPlaces(numeral);
  if (whole === null) return null;
  const end = index + numeral.length;
  const point = /点([〇零一二三四五六七八九]{1,8})/y;
  point.lastIndex = end;
  const fraction = point.exec(text)?.[1];
  if (fraction === undefined) return { value: decimalOf(whole), end };
  const digits = [...fraction].map((char) => DIGITS.get(char)?.toString() ?? '').join('');
  const value = parseDecimal(`${whole}.${digits}`);
  return value === null ? null : { value, end: point.lastIndex };
}

/** 万, 亿, 百万, 千万, 万亿 after digits: "90亿", "1.5万". Returns the factor and where it ends. */
function readScale(text: string, index: number): { readonly factor: bigint; readonly end: number } | null {
  // 千分之 and 万分之 begin a fraction of their own and scale nothing.
  const pattern = /\s?([十百千]?[万萬亿億]{1,2}|[百千])(?!分之)/y;
  pattern.lastIndex = index;
  const match = pattern.exec(text);
  if (match?.[1] === undefined) return null;
  const factor = [...match[1]].reduce((product, char) => product * (TENS.get(char) ?? MYRIADS.get(char) ?? 1n), 1n);
  return { factor, end: pattern.lastIndex };
}

/** Digits with Chinese scales: "90亿", "1亿2,000万". `value` was read and ends at `end`. */
export function scaleChinese(text: string, value: Decimal, end: number): ReadNumber | null {
  const first = readScale(text, end);
  if (first === null) return null;
  let total = multiplyDecimals(value, decimalOf(first.factor));
  let cursor = first.end;
  let last = first.factor;
  for (let count = 0; count < 3; count += 1) {
    const digits = /\d[\d,]{0,12}(?:\.\d{1,6})?/y;
    digits.lastIndex = cursor;
    const match = digits.exec(text);
    const part = match === null ? null : parseDecimal(match[0]);
    const scale = match === null ? null : readScale(text, digits.lastIndex);
    if (part === null || scale === null || scale.factor >= last) break;
    total = addDecimals(total, multiplyDecimals(part, decimalOf(scale.factor)));
    last = scale.factor;
    cursor = scale.end;
  }
  return { value: total, end: cursor };
}
