import {
  decimalOf,
  findQuantities,
  formatDecimal,
  multiplyDecimals,
  parseDecimal,
  type Quantity,
  shiftLeft,
  toCalendarDays,
  toMonths,
  toPercentPerYear,
} from '../quantities/index.ts';

/** A number as a claim states it or as evidence supports it. */
export interface Figure extends Pick<Quantity, 'value' | 'unit' | 'per' | 'currency' | 'text'> {
  /** Computed or implied, not written: it supports only a claim of exactly its unit and period. */
  readonly derived?: true;
}

/** "one" in "one party" and 一 in "不一致" are words, not figures; with a unit, or in digits, they would be. */
function isWord({ unit, text, value }: Figure): boolean {
  return unit === 'number' && !/[\d０-９½¼¾⅛]/.test(text) && value.length <= 2;
}

/** Every figure a text states; if words and digits disagree it states both. */
export function figuresOf(text: string): Figure[] {
  return findQuantities(text)
    .filter((found) => !isWord(found))
    .flatMap((found) => (found.conflict === undefined ? [found] : [found, { ...found, value: found.conflict }]));
}

/**
 * Same magnitude of the same thing: 90亿 is not 90 billion, 18% a year not 18% a month, $5 not ¥5.
 * A written number without a unit ("net 30") may stand for one with it, never for another value.
 */
export function isSameFigure(claim: Figure, evidence: Figure): boolean {
  if (claim.value !== evidence.value) return false;
  if (evidence.derived === true) return claim.unit === evidence.unit && claim.per === evidence.per;
  if (claim.unit === 'number' || evidence.unit === 'number') return true;
  if (claim.unit !== evidence.unit) return false;
  // A period that the evidence does not name is made up.
  if (claim.per !== undefined && claim.per !== evidence.per) return false;
  return claim.currency === undefined || evidence.currency === undefined || claim.currency === evidence.currency;
}

/**
 * What may be computed from an evidence figure without a new source: yearly rates, calendar days, shares as multiples.
 */
export function derivedFigures(evidence: Figure): Figure[] {
  const { value, unit, per, text } = evidence;
  const derived: Figure[] = [];
  const yearly = unit === 'percent' ? toPercentPerYear(value, per ?? null) : null;
  if (yearly?.factor != null) {
    derived.push({ value: formatDecimal(yearly.value), unit: 'percent', per: 'year', text, derived: true });
    derived.push({ value: yearly.factor, unit: 'number', text, derived: true });
  }
  const days = toCalendarDays(value, unit);
  if (days?.factor != null) {
    derived.push({ value: formatDecimal(days.value), unit: 'days', text, derived: true });
    derived.push({ value: days.factor, unit: 'number', text, derived: true });
  }
  const months = toMonths(value, unit);
  if (months?.factor != null) {
    derived.push({ value: formatDecimal(months.value), unit: 'months', text, derived: true });
    for (const part of months.factor.split('/')) derived.push({ value: part, unit: 'number', text, derived: true });
  }
  const times = unit === 'multiple' ? parseDecimal(value) : null;
  if (times !== null) {
    const percent = multiplyDecimals(times, decimalOf(100));
    derived.push({ value: formatDecimal(percent), unit: 'percent', text, derived: true });
  }
  const share = unit === 'percent' && per === undefined ? parseDecimal(value) : null;
  if (share !== null) {
    derived.push({ value: formatDecimal(shiftLeft(share, 2)), unit: 'multiple', text, derived: true });
  }
  return derived;
}
