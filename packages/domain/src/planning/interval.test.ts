import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALLEN_RELATIONS, type AllenRelation, allenRelation, findGaps, type Interval, intersect } from './interval.ts';

const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString();
const range = (from: number, until: number): Interval => ({ from: day(from), until: day(until) });

const CASES: readonly (readonly [AllenRelation, Interval, Interval])[] = [
  ['before', range(0, 1), range(2, 3)],
  ['meets', range(0, 2), range(2, 3)],
  ['overlaps', range(0, 2), range(1, 3)],
  ['starts', range(0, 1), range(0, 3)],
  ['during', range(1, 2), range(0, 3)],
  ['finishes', range(2, 3), range(0, 3)],
  ['equals', range(0, 3), range(0, 3)],
];

test.each(CASES)('%s, and its converse the other way round', (relation, a, b) => {
  expect(allenRelation(a, b)).toBe(relation);
  expect(allenRelation(b, a)).toBe(converse(relation));
});

test('an open end lies behind everything', () => {
  expect(allenRelation({ from: null, until: day(1) }, { from: day(1), until: null })).toBe('meets');
  expect(allenRelation({ from: null, until: null }, range(0, 1))).toBe('contains');
  expect(allenRelation({ from: day(5), until: null }, { from: null, until: null })).toBe('finishes');
});

function converse(relation: AllenRelation): AllenRelation {
  return ALLEN_RELATIONS[ALLEN_RELATIONS.length - 1 - ALLEN_RELATIONS.indexOf(relation)] ?? relation;
}

const end = fc.option(fc.integer({ min: 0, max: 6 }), { nil: null });
const ranges = fc
  .tuple(end, end)
  .filter(([from, until]) => from === null || until === null || from < until)
  .map(
    ([from, until]): Interval => ({
      from: from === null ? null : day(from),
      until: until === null ? null : day(until),
    }),
  );
/** A moment in the middle of each day that ranges can begin or end at, and one far before and after. */
const MOMENTS = Array.from({ length: 9 }, (_, n) => new Date(Date.UTC(2026, 0, n - 1, 12)).toISOString());
const holds = ({ from, until }: Interval, at: string) =>
  (from === null || from <= at) && (until === null || at < until);

test('exactly one relation holds of any two ranges, and its converse of them turned round', () => {
  fc.assert(
    fc.property(ranges, ranges, (a, b) => {
      expect(allenRelation(b, a)).toBe(converse(allenRelation(a, b)));
    }),
  );
});

test('what two ranges share is what lies in both', () => {
  fc.assert(
    fc.property(ranges, ranges, (a, b) => {
      const shared = intersect(a, b);
      for (const at of MOMENTS) expect(shared !== null && holds(shared, at)).toBe(holds(a, at) && holds(b, at));
    }),
  );
});

test('gaps and parts cover the whole, and no gap lies in a part', () => {
  fc.assert(
    fc.property(ranges, fc.array(ranges, { maxLength: 4 }), (whole, parts) => {
      const gaps = findGaps(whole, parts);
      for (const at of MOMENTS) {
        const missing = holds(whole, at) && !parts.some((part) => holds(part, at));
        expect(gaps.some((gap) => holds(gap, at))).toBe(missing);
      }
    }),
  );
});
