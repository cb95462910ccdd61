import { AppError } from '@cleanslate/contracts';

export type RateLimits = {
  /** Sustained requests per second of one party. */
  readonly perSecond: number;
  /** Requests at once, after a pause. */
  readonly burst: number;
};

type Bucket = { tokens: number; at: number };

/** Full again, so there is nothing to remember. */
const SWEEP_AT = 10_000;

export type TokenBuckets = {
  left(party: string): number;
  /** Throws `RATE_LIMITED` if there is no token, saying when there will be one. */
  check(party: string): void;
  /** Takes one. Throws like `check`. */
  take(party: string): void;
};

/** One bucket of tokens for each party (a tenant, an address), of this replica. */
export function tokenBuckets(
  { perSecond, burst }: RateLimits,
  now: () => number = () => performance.now(),
): TokenBuckets {
  const buckets = new Map<string, Bucket>();
  const fill = (bucket: Bucket, at: number) => Math.min(burst, bucket.tokens + ((at - bucket.at) / 1_000) * perSecond);
  const leftAt = (party: string, at: number) => fill(buckets.get(party) ?? { tokens: burst, at }, at);
  const left = (party: string) => leftAt(party, now());
  const mustHave = (tokens: number) => {
    if (tokens >= 1) return;
    throw new AppError('RATE_LIMITED', `more than ${perSecond} requests a second came here from you`, {
      retryAfterMs: Math.ceil(((1 - tokens) / perSecond) * 1_000),
      details: { remedy: 'wait as long as Retry-After says, then send it again' },
    });
  };
  return {
    left,
    check: (party) => mustHave(left(party)),
    take: (party) => {
      const at = now();
      if (buckets.size >= SWEEP_AT)
        for (const [each, bucket] of buckets) if (fill(bucket, at) >= burst) buckets.delete(each);
      const tokens = leftAt(party, at);
      mustHave(tokens);
      buckets.set(party, { tokens: tokens - 1, at });
    },
  };
}

/** What takes one token of a party. Throws `RATE_LIMITED`. */
export function rateLimiter(limits: RateLimits, now?: () => number): TokenBuckets['take'] {
  return tokenBuckets(limits, now).take;
}
