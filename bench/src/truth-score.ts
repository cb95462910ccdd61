import type { Clause } from '@cleanslate/workflows';

/** One clause as a person labelled it. */
export interface Label {
  readonly present: boolean;
  readonly spans: readonly { readonly start: number; readonly end: number }[];
  readonly value: number | null;
  readonly unit: string | null;
  readonly normalized: string;
}

export interface Tally {
  truePositive: number;
  falsePositive: number;
  falseNegative: number;
  trueNegative: number;
  /** The quote, or a supporting one, overlaps a labelled span. */
  spanHit: number;
  valueRight: number;
  valueWrong: number;
}

export function emptyTally(): Tally {
  return {
    truePositive: 0,
    falsePositive: 0,
    falseNegative: 0,
    trueNegative: 0,
    spanHit: 0,
    valueRight: 0,
    valueWrong: 0,
  };
}

export function pool(tallies: readonly Tally[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies) {
    for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += tally[key];
  }
  return sum;
}

/** "days", "percent_per_month": the labels' way of writing a unit. */
export function unitOf(clause: Clause): string | null {
  if (!clause.present || clause.value === null || clause.unit === null) return null;
  return clause.per === null ? clause.unit : `${clause.unit}_per_${clause.per}`;
}

/** One year is twelve months; nothing else is the same as something else. */
function inMonths(value: number, unit: string | null): string {
  return unit === 'years' ? `${value * 12} months` : `${value} ${unit ?? ''}`;
}

/**
 * The primary reading's value is the label's. A label without a value is a formula, a date, a law, or open-ended:
 * reading a number there is wrong.
 */
export function isValueRight(label: Label, clause: Clause): boolean {
  if (!clause.present) return false;
  if (label.value === null) return clause.value === null;
  return clause.value !== null && inMonths(Number(clause.value), unitOf(clause)) === inMonths(label.value, label.unit);
}

/** Counts one comparison; true where presence, span and value all agree. */
export function score(tally: Tally, label: Label, clause: Clause): boolean {
  if (label.present !== clause.present) {
    if (label.present) tally.falseNegative += 1;
    else tally.falsePositive += 1;
    return false;
  }
  if (!clause.present) {
    tally.trueNegative += 1;
    return true;
  }
  tally.truePositive += 1;
  const spans = [clause.span, ...clause.supporting.map(({ span }) => span)];
  const hit = label.spans.some((want) => spans.some((got) => got.start < want.end && want.start < got.end));
  if (hit) tally.spanHit += 1;
  const right = isValueRight(label, clause);
  if (right) tally.valueRight += 1;
  else tally.valueWrong += 1;
  return hit && right;
}
