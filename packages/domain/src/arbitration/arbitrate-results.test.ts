import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitrateResults, type ExecutorResult } from './arbitrate-results.ts';

const NOW = Date.UTC(2026, 0, 1);
const says = (id: string, value: string, change: Partial<ExecutorResult> = {}): ExecutorResult => ({
  id,
  value,
  trust: 'internal_document',
  layer: 'core',
  weight: 0.9,
  sourceTime: NOW,
  validatorScore: null,
  evidence: [`${id}@1`],
  ...change,
});

describe('between results', () => {
  test('those that say the same agree, and all their evidence travels along', () => {
    const ruling = arbitrateResults([says('a', '30'), says('b', '30')], NOW);
    expect(ruling).toMatchObject({ ruling: 'agreed', winner: 'a', lead: null });
    expect(ruling.ranking.flatMap(({ evidence }) => evidence)).toEqual(['a@1', 'b@1']);
  });

  test('a person outranks whatever has the better score; two people who differ are a dispute', () => {
    const person = says('p', '45', { trust: 'human_confirmed', weight: 0, sourceTime: 0 });
    expect(arbitrateResults([says('a', '30'), person], NOW)).toMatchObject({ ruling: 'decided', winner: 'p' });
    const other = says('q', '60', { trust: 'human_confirmed' });
    expect(arbitrateResults([person, other], NOW)).toMatchObject({ ruling: 'disputed', winner: null });
  });

  test('a lead of 0.15 decides, a smaller one is for the validator', () => {
    const weight = (lead: number) => says('b', '45', { weight: 0.9 - 2 * lead });
    expect(arbitrateResults([says('a', '30'), weight(0.15)], NOW)).toMatchObject({ ruling: 'decided', winner: 'a' });
    const close = arbitrateResults([says('a', '30'), weight(0.149)], NOW);
    expect(close).toMatchObject({ ruling: 'disputed', winner: null, reason: 'lead 0.149 is below 0.15' });
    expect(close.ranking.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('the validator vetoes: also a person, and also all of them', () => {
    const vetoed = says('p', '45', { trust: 'human_confirmed', validatorScore: 0.4 });
    expect(arbitrateResults([vetoed, says('a', '30')], NOW)).toMatchObject({ ruling: 'agreed', winner: 'a' });
    expect(arbitrateResults([vetoed], NOW)).toMatchObject({ ruling: 'vetoed', winner: null });
    expect(arbitrateResults([], NOW)).toMatchObject({ ruling: 'vetoed', reason: 'no result' });
  });
});

const results = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    value: fc.constantFrom('30', '45', '60'),
    trust: fc.constantFrom('human_confirmed' as const, 'internal_document' as const, 'external_source' as const),
    layer: fc.constantFrom('core' as const, 'working' as const),
    weight: fc.double({ min: 0, max: 1, noNaN: true }),
    sourceTime: fc.integer({ min: 0, max: NOW }),
    validatorScore: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    evidence: fc.constant(['x@1']),
  }),
  { selector: ({ id }) => id, maxLength: 5 },
);

test('the order of the results decides nothing; a winner was never vetoed; nothing is lost', () => {
  fc.assert(
    fc.property(results, fc.nat(), (given, turn) => {
      const ruling = arbitrateResults(given, NOW);
      const at = turn % Math.max(1, given.length);
      expect(arbitrateResults([...given.slice(at), ...given.slice(0, at)], NOW)).toEqual(ruling);
      expect(ruling.ranking.map(({ id }) => id).sort()).toEqual(given.map(({ id }) => id).sort());
      const winner = ruling.ranking.find(({ id }) => id === ruling.winner);
      if (ruling.winner !== null) expect(winner?.vetoed).toBe(false);
      if (ruling.ruling === 'disputed') expect(new Set(given.map(({ value }) => value)).size).toBeGreaterThan(1);
    }),
  );
});
