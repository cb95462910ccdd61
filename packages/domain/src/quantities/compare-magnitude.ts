import { type Decimal, decimalOf, multiplyDecimals, parseDecimal } from './decimal.ts';
import type { Period, QuantityUnit } from './quantity.ts';

/** A magnitude on the scale that rules compare on, and the factor that was used, for the explanation. */
export interface Converted {
  readonly value: Decimal;
  readonly factor: string | null;
}

const PER_YEAR: Readonly<Record<Period, number>> = { day: 365, week: 52, month: 12, year: 1 };

/**
 * Simple, not compounded, interest: 1.5% a month is 18% a year, 0.05% a day is 18.25%. A
 * rate without a period has none.
 */
export function toPercentPerYear(value: string, per: Period | null): Converted | null {
  const rate = parseDecimal(value);
  if (rate === null || per === null) return null;
  const factor = PER_YEAR[per];
  return { value: multiplyDecimals(rate, decimalOf(factor)), factor: factor === 1 ? null : factor.toString() };
}

// Seven calendar days hold five business days; months and years as in a 30/365 day count.
const IN_DAYS: ReadonlyMap<QuantityUnit, Decimal> = new Map([
  ['days', decimalOf(1)],
  ['business_days', { digits: 14n, scale: 1 }],
  ['weeks', decimalOf(7)],
  ['months', decimalOf(30)],
  ['years', decimalOf(365)],
]);

/** A duration in calendar days; null for a unit that is no duration of days. */
export function toCalendarDays(value: string, unit: QuantityUnit): Converted | null {
  const count = parseDecimal(value);
  const days = IN_DAYS.get(unit);
  if (count === null || days === undefined) return null;
  const factor = unit === 'days' ? null : unit === 'business_days' ? '1.4' : days.digits.toString();
  return { value: multiplyDecimals(count, days), factor };
}

const IN_MONTHS: ReadonlyMap<QuantityUnit, number> = new Map([
  ['months', 1],
  ['years', 12],
]);

/**
 * A duration in months: years exactly, whole years of 365 days as 12 months, other days by
 * 30 and rounded to two places.
 */
export function toMonths(value: string, unit: QuantityUnit): Converted | null {
  const count = parseDecimal(value);
  const whole = IN_MONTHS.get(unit);
  if (count !== null && whole !== undefined)
    return { value: multiplyDecimals(count, decimalOf(whole)), factor: whole === 1 ? null : `${whole}` };
  const inDays = toCalendarDays(value, unit);
  if (inDays === null || inDays.value.scale !== 0) return null;
  const { digits: days } = inDays.value;
  if (days > 0n && days % 365n === 0n) return { value: decimalOf((days / 365n) * 12n), factor: '12/365' };
  return { value: { digits: (days * 100n + 15n) / 30n, scale: 2 }, factor: '1/30' };
}
