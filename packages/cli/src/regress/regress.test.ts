import { FactView } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findViolations } from './ask.ts';
import { type Baseline, compare, type Outcome } from './compare.ts';
import { mcNemar } from './mcnemar.ts';

function outcomes(passed: number, failed: number, category = 'rates'): Outcome[] {
  return Array.from({ length: passed + failed }, (_, n) => ({
    id: `${category}-${n}`,
    category,
    fingerprint: 'f',
    passed: n < passed,
  }));
}
const baseline = (questions: Outcome[]): Baseline => ({
  format: 1,
  madeAt: '2026-01-01',
  revision: 1,
  space: null,
  questions,
});

describe('the paired test', () => {
  test('agrees with known values, and with counting all ways', () => {
    // Binomial tails by hand: 2 · (1/2)^6, 2 · (1 + 8) / 2^8, …
    expect(mcNemar(6, 0)).toBeCloseTo(0.03125, 10);
    expect(mcNemar(5, 0)).toBeCloseTo(0.0625, 10);
    expect(mcNemar(7, 1)).toBeCloseTo(0.0703125, 10);
    expect(mcNemar(0, 0)).toBe(1);
    for (let n = 1; n <= 12; n++) {
      for (let worse = 0; worse <= n; worse++) {
        let extreme = 0;
        for (let ways = 0; ways < 2 ** n; ways++) {
          const heads = ways.toString(2).replaceAll('0', '').length;
          if (Math.min(heads, n - heads) <= Math.min(worse, n - worse)) extreme++;
        }
        expect(mcNemar(worse, n - worse)).toBeCloseTo(extreme / 2 ** n, 9);
      }
    }
  });

  test('is a probability, has no sides, and doubts less the more uneven', () => {
    const count = fc.integer({ min: 0, max: 5_000 });
    fc.assert(
      fc.property(count, count, (worse, better) => {
        const p = mcNemar(worse, better);
        expect(p).toBeGreaterThanOrEqual(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(mcNemar(better, worse)).toBe(p);
        if (worse > better) expect(mcNemar(worse + 1, better)).toBeLessThanOrEqual(p + 1e-12);
      }),
    );
  });
});

describe('a category', () => {
  const dropped = (was: number, is: number, of: number) =>
    compare(outcomes(is, of - is), baseline(outcomes(was, of - was)))[0]?.dropped;

  test('drops when it loses more than 5 points and that is no noise: neither alone', () => {
    expect(dropped(20, 14, 20)).toBe(true);
    // 25 points, and 1 in 16: it may be chance.
    expect(dropped(20, 15, 20)).toBe(false);
    // No chance, but 3 points.
    expect(dropped(300, 291, 300)).toBe(false);
    expect(dropped(300, 280, 300)).toBe(true);
    expect(dropped(14, 20, 20)).toBe(false);
  });

  test('exactly five points are not more than five', () => {
    expect(dropped(200, 190, 200)).toBe(false);
    expect(dropped(200, 189, 200)).toBe(true);
  });

  test('new and reworded questions are counted, and compared with nothing', () => {
    const [report] = compare(
      outcomes(0, 20).map((outcome) => ({ ...outcome, fingerprint: 'reworded' })),
      baseline(outcomes(20, 0)),
    );
    expect(report).toMatchObject({ asked: 20, passed: 0, compared: 0, p: null, dropped: false });
    expect(compare(outcomes(3, 1), null)[0]).toMatchObject({ passed: 3, before: null, dropped: false });
  });

  test('is judged apart from the others', () => {
    const was = [...outcomes(20, 0, 'a'), ...outcomes(20, 0, 'b')];
    const is = [...outcomes(20, 0, 'a'), ...outcomes(10, 10, 'b')];
    expect(compare(is, baseline(was)).map(({ category, dropped: lost }) => [category, lost])).toEqual([
      ['a', false],
      ['b', true],
    ]);
  });
});

describe('what must be zero', () => {
  const fact = FactView.parse({
    tenantId: 'acme',
    knowledgeId: 'rate',
    version: 2,
    statement: 'The rate is 12%.',
    assertion: null,
    knowledgeType: 'rule',
    layer: 'core',
    sourceType: 'human_confirmed',
    sourceRef: 'p',
    weight: 1,
    confidence: 1,
    importance: 1,
    accessLevel: 'internal',
    sensitivity: 'none',
    contentHash: 'a'.repeat(64),
    tags: [],
    validFrom: '2024-01-01T00:00:00.000Z',
    validUntil: '2025-01-01T00:00:00.000Z',
    revisionFrom: 5,
    revisionUntil: null,
  });
  const pin = { validAt: '2024-06-01T00:00:00.000Z', revision: 9 };
  const kinds = (more: Partial<FactView>, at: Partial<typeof pin> = {}, erased: string[] = []) =>
    findViolations({ ...fact, ...more }, 'acme', { ...pin, ...at }, erased).map(([violation]) => violation);

  test('a version that does not hold at the pin, on either clock', () => {
    expect(kinds({})).toEqual([]);
    expect(kinds({}, { validAt: '2023-12-31T23:59:59.999Z' })).toEqual(['stale']);
    expect(kinds({}, { validAt: '2025-01-01T00:00:00.000Z' })).toEqual(['stale']);
    expect(kinds({}, { revision: 4 })).toEqual(['stale']);
    expect(kinds({ revisionUntil: 9 })).toEqual(['stale']);
  });

  test('another tenant’s fact, a tombstone, and text that was erased', () => {
    expect(kinds({ tenantId: 'globex' })).toEqual(['foreign']);
    const redacted = { redactionId: 1, at: '2026-01-01T00:00:00.000Z', by: 'person', reason: 'asked' };
    expect(kinds({ redacted })).toEqual(['erased']);
    expect(kinds({}, {}, ['rate is 12'])).toEqual(['erased']);
    expect(kinds({}, {}, ['rate is 13'])).toEqual([]);
  });
});
