import { type RateLimits, tokenBuckets } from './rate-limit.ts';

/** Lets `look` find the owner of a key; it resolves to undefined if the key is nobody's. */
export type GuessGuard = <T>(address: string, look: () => Promise<T | undefined>) => Promise<T | undefined>;

/**
 * Limits the wrong keys that one address may try; a right one costs nothing. No more are looked up at once than the
 * address may still guess: further callers wait for those, and are refused only if they were guesses. Throws
 * `RATE_LIMITED`.
 */
export function guessGuard(limits: RateLimits): GuessGuard {
  const guesses = tokenBuckets(limits);
  const asking = new Map<string, { count: number; readonly waiting: (() => void)[] }>();
  return async (address, look) => {
    let own = asking.get(address);
    while (own && own.count + 1 > guesses.left(address)) {
      const { waiting } = own;
      await new Promise<void>((resolve) => waiting.push(resolve));
      own = asking.get(address);
    }
    if (!own) {
      guesses.check(address);
      own = { count: 0, waiting: [] };
      asking.set(address, own);
    }
    own.count++;
    try {
      const found = await look();
      if (found === undefined) guesses.take(address);
      return found;
    } finally {
      own.count--;
      if (own.count === 0) asking.delete(address);
      for (const wake of own.waiting.splice(0)) wake();
    }
  };
}
