import { type FoundDate, findDates } from './dates.ts';
import { addDecimals, compareDecimals, type Decimal, decimalOf, formatDecimal, shiftLeft } from './decimal.ts';
import { foldWidth } from './fold-width.ts';
import { NUMBER_START, readNumeral, skipRun } from './numeral.ts';
import type { Quantity, QuantityUnit } from './quantity.ts';
import { readCurrencyPrefix, readPartPrefix, readPeriodAfter, readPeriodBefore, readUnit } from './unit.ts';

interface Measured {
  readonly value: Decimal;
  readonly unit: QuantityUnit;
  readonly currency?: string;
  readonly start: number;
  readonly end: number;
}

function skip(text: string, index: number, pattern: RegExp): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** "one-half of one percent" is half a percent: the "one" says nothing. */
function skipOfOne(text: string, end: number): number {
  const after = skip(text, end, /\s{1,4}of\s{1,4}(?:one|1)(?=\s{0,4}(?:%|per ?cent))/iy);
  return after === -1 ? end : after;
}

/** One number with its unit at `index`; unit `number` when none is named. */
function readMeasured(text: string, index: number): Measured | null {
  const part = readPartPrefix(text, index);
  const read = readNumeral(text, part?.end ?? index);
  if (read === null) return null;
  if (part !== null) return { value: shiftLeft(read.value, part.shift), unit: 'percent', start: index, end: read.end };
  const prefix = readCurrencyPrefix(text, index);
  const end = skipOfOne(text, read.end);
  const half = skip(text, end, /个半月/y);
  if (half !== -1)
    return { value: addDecimals(read.value, { digits: 5n, scale: 1 }), unit: 'months', start: index, end: half };
  const unit = readUnit(text, end);
  const start = prefix?.start ?? index;
  if (prefix !== null && (unit === null || unit.unit !== 'percent')) {
    const amountEnd = unit?.unit === 'amount' ? unit.end : read.end;
    return { value: read.value, unit: 'amount', currency: prefix.currency, start, end: amountEnd };
  }
  // 1997年 is a calendar year, not a duration of 1,997 years.
  const isCalendarYear = unit?.unit === 'years' && compareDecimals(read.value, decimalOf(999)) > 0;
  if (unit === null || isCalendarYear) return { value: read.value, unit: 'number', start, end: read.end };
  const currency = unit.currency === undefined ? {} : { currency: unit.currency };
  return { value: shiftLeft(read.value, unit.shift), unit: unit.unit, start, end: unit.end, ...currency };
}

/** "(30)" after "thirty", "thirty" after "(30)", "（¥1,000,000.00）" after the amount in words. */
function readRestated(text: string, first: Measured): Measured | null {
  const open = skip(text, first.end, /\s{0,3}整?\s{0,3}\(\s{0,3}(?:(?:小写|大写|即)\s{0,2}:?)?\s{0,3}/y);
  if (open !== -1) {
    const sign = skip(text, open, /(?:us\s?\$|hk\$|\$|¥|rmb\s?¥?|usd|cny|人民币|€|£)\s{0,3}/iy);
    const inner = readMeasured(text, sign === -1 ? open : sign);
    const close = inner === null ? -1 : skip(text, inner.end, /\s{0,3}\)/y);
    return inner === null || close === -1 ? null : { ...inner, end: close };
  }
  if (text.charAt(first.start - 1) !== '(') return null;
  const close = skip(text, first.end, /\)\s{1,3}/y);
  const outer = close === -1 || !/[a-z]/i.test(text.charAt(close)) ? null : readMeasured(text, close);
  return outer === null ? null : { ...outer, start: first.start - 1 };
}

interface Joined extends Measured {
  readonly conflict?: Decimal;
}

/** Joins a number and its restatement; where the two disagree the first counts and the other is kept as a conflict. */
function joinRestated(text: string, first: Measured, second: Measured): Joined | null {
  const oneNames = first.unit === 'number' || second.unit === 'number';
  if (!oneNames && first.unit !== second.unit) return null;
  // A bare "(2)" after "30 days" is a list mark, not a restatement.
  const equal = compareDecimals(first.value, second.value) === 0;
  if (!equal && first.unit !== 'number' && second.unit === 'number') return null;
  const unitAfter = readUnit(text, second.end);
  const unit =
    first.unit !== 'number' ? first.unit : second.unit !== 'number' ? second.unit : (unitAfter?.unit ?? 'number');
  if (!equal && unit === 'number') return null;
  const takesAfter = unitAfter !== null && unitAfter.unit === unit && (first.unit === 'number' || unit === 'amount');
  const shift = first.unit === 'number' && second.unit === 'number' && takesAfter ? unitAfter.shift : 0;
  const currency = first.currency ?? second.currency ?? unitAfter?.currency;
  return {
    value: shiftLeft(first.value, shift),
    unit,
    start: Math.min(first.start, second.start),
    end: takesAfter ? unitAfter.end : second.end,
    ...(unit === 'amount' && currency !== undefined ? { currency } : {}),
    ...(equal ? {} : { conflict: shiftLeft(second.value, shift) }),
  };
}

function readJoined(text: string, index: number): Joined | null {
  const first = readMeasured(text, index);
  if (first === null) return null;
  const second = readRestated(text, first);
  return second === null ? first : (joinRestated(text, first, second) ?? first);
}

function toQuantity(original: string, folded: string, joined: Joined): Quantity {
  const rated = joined.unit === 'percent' || joined.unit === 'amount';
  const after = rated ? readPeriodAfter(folded, joined.end) : null;
  const per = after?.per ?? (rated ? readPeriodBefore(folded, joined.start) : undefined);
  const span = { start: joined.start, end: after?.end ?? joined.end };
  return {
    value: formatDecimal(joined.value),
    unit: joined.unit,
    ...(per === undefined ? {} : { per }),
    ...(joined.currency === undefined ? {} : { currency: joined.currency }),
    ...(joined.conflict === undefined ? {} : { conflict: formatDecimal(joined.conflict) }),
    span,
    text: original.slice(span.start, span.end),
  };
}

/** A number glued to letters ("B2", "Q4"), an ordinal, or a day of a month ("次月10日") counts nothing. */
function isGlued(folded: string, index: number, joined: Joined): boolean {
  const before = folded.slice(Math.max(0, index - 3), index);
  if (/第$/.test(before)) return true;
  const dayOfMonth = joined.unit === 'days' || folded.charAt(joined.end) === '号';
  if (dayOfMonth && /月初?$/.test(before) && !/个月$/.test(before)) return true;
  return /[a-z_#]$/i.test(before) && !/(?:rmb|usd|cny|eur|gbp|hkd|us)$/i.test(before);
}

const RANGE = /^\s?(?:-|~|to|至|到)\s?$/i;

/**
 * "5-20%" is 5% to 20%: a bare number before a range mark has the unit behind it. Not where that number is scaled
 * ("3至5万"), since both may be meant.
 */
function joinRanges(folded: string, found: readonly Quantity[]): Quantity[] {
  return found.map((quantity, index) => {
    const next = found[index + 1];
    if (quantity.unit !== 'number' || next === undefined || next.unit === 'number') return quantity;
    if (!RANGE.test(folded.slice(quantity.span.end, next.span.start)) || /[万萬亿億]|illion|thousand/i.test(next.text))
      return quantity;
    const { unit, per, currency } = next;
    return {
      ...quantity,
      unit,
      ...(per === undefined ? {} : { per }),
      ...(currency === undefined ? {} : { currency }),
    };
  });
}

/**
 * Every quantity of the text in order, without those inside its calendar dates (`dates`, where they were read already).
 * Linear in the length of the text.
 */
export function findQuantities(text: string, dates: readonly FoundDate[] = findDates(text)): Quantity[] {
  const folded = foldWidth(text);
  const found: Quantity[] = [];
  const starts = new RegExp(NUMBER_START.source, NUMBER_START.flags);
  let nextDate = 0;
  for (let match = starts.exec(folded); match !== null; match = starts.exec(folded)) {
    const index = match.index;
    while ((dates[nextDate]?.span.end ?? Number.POSITIVE_INFINITY) <= index) nextDate += 1;
    const date = dates[nextDate];
    if (date !== undefined && date.span.start <= index) {
      starts.lastIndex = date.span.end;
      continue;
    }
    const joined = readJoined(folded, index);
    if (joined !== null && !isGlued(folded, index, joined)) found.push(toQuantity(text, folded, joined));
    starts.lastIndex = joined?.end ?? (/[a-z]/i.test(match[0]) ? index + match[0].length : skipRun(folded, index));
  }
  return joinRanges(folded, found);
}
