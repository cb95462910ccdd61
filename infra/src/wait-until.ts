import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls `check` until it returns something truthy and returns that; a throwing check counts as "not yet".
 * After `timeoutMs` throws what `onTimeout` makes of the last error.
 */
export async function waitUntil<Result>(
  check: () => Promise<Result> | Result,
  options: {
    timeoutMs: number;
    intervalMs?: number;
    signal?: AbortSignal | undefined;
    onTimeout: (lastError: unknown) => Error;
  },
): Promise<Result> {
  const giveUpAt = performance.now() + options.timeoutMs;
  let lastError: unknown;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const result = await check();
      if (result) return result;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() > giveUpAt) throw options.onTimeout(lastError);
    await sleep(options.intervalMs ?? 25);
  }
}

/** Resolves to true when `promise` settles within `timeoutMs`, to false when it does not. */
export async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      late,
    ]);
  } finally {
    timer.abort();
  }
}
