import { setTimeout as sleep } from 'node:timers/promises';

export type WaitOptions = {
  /** Milliseconds, default 45 s. */
  readonly timeoutMs?: number;
  /** Milliseconds, default 25. */
  readonly everyMs?: number;
};

/**
 * Polls a condition until it is neither undefined nor false, and returns it. Throws where it takes too
 * long, with the last error it saw.
 */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions = {},
): Promise<T> {
  const { timeoutMs = 45_000, everyMs = 25 } = options;
  const giveUpAt = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await check();
      if (found !== undefined && found !== false) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > giveUpAt)
      throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`, last === undefined ? {} : { cause: last });
    await sleep(everyMs);
  }
}
