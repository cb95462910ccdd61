import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from './retry.ts';

const POLICY = { maxAttempts: 10, baseMs: 1_000, maxMs: 60_000 };

describe('back-off', () => {
  test('is the same for the same attempt, and another for another', () => {
    expect(backoffMs(POLICY, 2, 'acme/t/a/3')).toBe(backoffMs(POLICY, 2, 'acme/t/a/3'));
    const delays = new Set(Array.from({ length: 100 }, (_, i) => backoffMs(POLICY, 2, `acme/t${i}/a/3`)));
    expect(delays.size).toBeGreaterThan(90);
  });

  test('spreads a burst over the upper half of the delay', () => {
    const delays = Array.from({ length: 1_000 }, (_, i) => backoffMs(POLICY, 3, `acme/task-${i}/a/4`));
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    expect(mean).toBeGreaterThan(5_700);
    expect(mean).toBeLessThan(6_300);
    expect(Math.min(...delays)).toBeLessThan(4_400);
    expect(Math.max(...delays)).toBeGreaterThan(7_600);
  });

  test('lies between half and all of the exponential delay, is capped, and waits at least as long as asked', () => {
    const policy = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 100 }),
      baseMs: fc.integer({ min: 1, max: 3_600_000 }),
      maxMs: fc.integer({ min: 1, max: 86_400_000 }),
    });
    fc.assert(
      fc.property(policy, fc.nat(1_000), fc.string(), fc.nat(100_000), (retry, spent, seed, retryAfterMs) => {
        const full = Math.min(retry.maxMs, retry.baseMs * 2 ** Math.min(spent, 30));
        const delay = backoffMs(retry, spent, seed);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(Math.floor(full / 2));
        expect(delay).toBeLessThanOrEqual(full);
        expect(backoffMs(retry, spent, seed, retryAfterMs)).toBe(Math.max(delay, retryAfterMs));
      }),
      { numRuns: 500 },
    );
  });
});
