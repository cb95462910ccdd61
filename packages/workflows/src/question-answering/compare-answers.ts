import {
  compareDecimals,
  type Decimal,
  formatDecimal,
  parseDecimal,
  toCalendarDays,
  toMonths,
} from '@cleanslate/domain';
import type { ComparedAnswer, QuotedAnswer } from './schemas.ts';

type Measured = { readonly value: Decimal; readonly unit: string };
type Measurable = Pick<QuotedAnswer, 'value' | 'unit'>;

/** How two answers compare: greater, less or equal, and by how much. Null if their units can't be compared. */
export function compareAnswers(left: QuotedAnswer, right: QuotedAnswer): ComparedAnswer | null {
  const pair = toOneUnit(left, right);
  if (pair === null) return null;
  const [a, b] = pair;
  const order = compareDecimals(a.value, b.value);
  const sideOf = ({ subGoal, fact, value, unit }: QuotedAnswer) => ({
    subGoal,
    fact,
    value: value ?? '',
    unit: unit ?? '',
  });
  return {
    kind: 'comparison',
    left: sideOf(left),
    right: sideOf(right),
    relation: order > 0 ? 'greater' : order < 0 ? 'less' : 'equal',
    difference: formatDecimal(distance(a.value, b.value)),
    unit: a.unit,
  };
}

function toOneUnit(left: Measurable, right: Measurable): readonly [Measured, Measured] | null {
  for (const measure of [asWritten, inDays, inMonths]) {
    const [a, b] = [measure(left), measure(right)];
    if (a !== null && b !== null && a.unit === b.unit) return [a, b];
  }
  return null;
}

function asWritten({ value, unit }: Measurable): Measured | null {
  const decimal = value === null ? null : parseDecimal(value);
  return decimal === null ? null : { value: decimal, unit: unit ?? '' };
}

/** A month has no number of days: only what converts exactly is compared. */
function inDays({ value, unit }: Measurable): Measured | null {
  const days = value === null || (unit !== 'days' && unit !== 'weeks') ? null : toCalendarDays(value, unit);
  return days === null ? null : { value: days.value, unit: 'days' };
}

function inMonths({ value, unit }: Measurable): Measured | null {
  const months = value === null || (unit !== 'months' && unit !== 'years') ? null : toMonths(value, unit);
  return months === null ? null : { value: months.value, unit: 'months' };
}

function distance(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const digits = (decimal: Decimal) => decimal.digits * 10n ** BigInt(scale - decimal.scale);
  const difference = digits(a) - digits(b);
  return { digits: difference < 0n ? -difference : difference, scale };
}
