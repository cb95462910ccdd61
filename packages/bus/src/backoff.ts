/** Exponential back-off with full jitter, so that many waiters never come back in one wave. */
export type BackoffOptions = {
  /** Upper bound of the first delay. Milliseconds. */
  readonly firstMs: number;
  readonly maxMs: number;
};

/** Delay before try number `failures` (from 1): uniform between half and all of the doubled bound. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffOptions, random: () => number = Math.random) {
  const bound = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(bound / 2 + (random() * bound) / 2);
}
