import { contains, type ValidRange } from './valid-range.ts';

/** What placing needs of a believed version: when it holds and when its source said it. */
export type PlacedVersion = { readonly valid: ValidRange; readonly sourceTime: number };

/**
 * The valid range of a statement that may leave its dates open. No end: until the next period known to begin (a rule in
 * force since March that we learn in June doesn't undo one that begins in May). No beginning: always, if nothing is
 * known yet; otherwise from when it was said, and not past a later statement, so that two statements delivered in the
 * wrong order come out right. Undefined if nothing is left.
 */
export function placePeriod(
  believed: readonly PlacedVersion[],
  stated: { readonly from: number | null; readonly until: number | null },
  saidAt: number,
): ValidRange | undefined {
  if (stated.from === null && believed.length === 0)
    return { from: Number.NEGATIVE_INFINITY, until: stated.until ?? Number.POSITIVE_INFINITY };
  const from = stated.from ?? saidAt;
  const later = believed.map(({ valid }) => valid.from).filter((start) => start > from);
  let until = stated.until ?? Math.min(Number.POSITIVE_INFINITY, ...later);
  if (stated.from === null) {
    const holder = believed.find(({ valid }) => contains(valid, from));
    if (holder !== undefined && holder.sourceTime > saidAt) until = Math.min(until, holder.sourceTime);
  }
  return from < until ? { from, until } : undefined;
}
