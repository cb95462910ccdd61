import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rateLimiter } from './rate-limit.ts';

const allows = (take: () => void) => {
  try {
    take();
    return true;
  } catch {
    return false;
  }
};

test('a burst, then the rate; one tenant’s flood is not another’s', () => {
  let now = 0;
  const take = rateLimiter({ perSecond: 10, burst: 3 }, () => now);
  for (let i = 0; i < 3; i++) take('acme');
  expect(() => take('acme')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', retryAfterMs: 100 }));
  take('globex');
  now = 99;
  expect(allows(() => take('acme'))).toBe(false);
  now = 100;
  take('acme');
  expect(allows(() => take('acme'))).toBe(false);
});

test('however requests come, no more than burst and rate allow are let in', () => {
  fc.assert(
    fc.property(
      fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 20 }) }),
      fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }),
      (limits, pauses) => {
        let now = 0;
        const take = rateLimiter(limits, () => now);
        let letIn = 0;
        for (const pause of pauses) {
          now += pause;
          if (allows(() => take('acme'))) letIn++;
        }
        expect(letIn).toBeLessThanOrEqual(limits.burst + (now / 1_000) * limits.perSecond + 1e-6);
        if (pauses.length > 0) expect(letIn).toBeGreaterThan(0);
      },
    ),
  );
});
