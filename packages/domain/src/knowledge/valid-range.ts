import { AppError } from '@cleanslate/contracts';

/** Valid time `[from, until)` in milliseconds since 1970, UTC; ±Infinity is unbounded. */
export type ValidRange = { readonly from: number; readonly until: number };

/** Throws `INVALID_INPUT` naming `field` if the range contains no moment. */
export function toValidRange(validFrom: string | null, validUntil: string | null, field: string): ValidRange {
  const range = {
    from: validFrom === null ? Number.NEGATIVE_INFINITY : Date.parse(validFrom),
    until: validUntil === null ? Number.POSITIVE_INFINITY : Date.parse(validUntil),
  };
  if (Number.isNaN(range.from) || Number.isNaN(range.until))
    throw new AppError('INVALID_INPUT', `${field}: not a time: write UTC as 2024-01-31T00:00:00.000Z`);
  if (range.from >= range.until)
    throw new AppError('INVALID_INPUT', `${field}: validFrom must be before validUntil: correct one of the two`);
  return range;
}

/** The bound as it travels; null is unbounded. */
export function toBound(time: number): string | null {
  return Number.isFinite(time) ? new Date(time).toISOString() : null;
}

export function overlaps(a: ValidRange, b: ValidRange): boolean {
  return a.from < b.until && b.from < a.until;
}

export function contains(range: ValidRange, time: number): boolean {
  return range.from <= time && time < range.until;
}

/** What is left of `range` outside of `holes`, in order. */
export function subtractRanges(range: ValidRange, holes: readonly ValidRange[]): ValidRange[] {
  const left: ValidRange[] = [];
  let from = range.from;
  for (const hole of [...holes].sort((a, b) => a.from - b.from)) {
    if (!overlaps(hole, { from, until: range.until })) continue;
    if (hole.from > from) left.push({ from, until: hole.from });
    from = hole.until;
  }
  if (from < range.until) left.push({ from, until: range.until });
  return left;
}
