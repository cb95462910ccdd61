import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BelievedVersion, decideFactWrite } from './decide-fact-write.ts';
import { decideRetraction } from './decide-retraction.ts';
import { contains, overlaps, type ValidRange } from './valid-range.ts';

const SPAN = 12;
/** Moments of the model: one before everything, each whole number, one after everything. */
const MOMENTS = Array.from({ length: SPAN + 2 }, (_, index) => index - 1);

type Retraction = { readonly retract: ValidRange };
type Saying = readonly Period[] | Retraction;
type Period = { readonly valid: ValidRange; readonly body: string };
type Row = BelievedVersion<string> & { readonly from: number; until: number };

/** Up to three periods that don't overlap, with open ends now and then. */
const statement: fc.Arbitrary<Period[]> = fc
  .record({
    cuts: fc.uniqueArray(fc.integer({ min: 0, max: SPAN }), { minLength: 2, maxLength: 6 }),
    values: fc.array(fc.constantFrom('A', 'B', 'C'), { minLength: 3, maxLength: 3 }),
    openStart: fc.boolean(),
    openEnd: fc.boolean(),
  })
  .map(({ cuts, values, openStart, openEnd }) => {
    const sorted = [...cuts].sort((a, b) => a - b);
    const periods: { valid: ValidRange; body: string }[] = [];
    for (let at = 0; at + 1 < sorted.length; at += 2) {
      const last = at + 3 >= sorted.length;
      const from = at === 0 && openStart ? Number.NEGATIVE_INFINITY : (sorted[at] ?? 0);
      const until = last && openEnd ? Number.POSITIVE_INFINITY : (sorted[at + 1] ?? 0);
      periods.push({ valid: { from, until }, body: values[at / 2] ?? 'A' });
    }
    return periods;
  });

const retraction: fc.Arbitrary<Retraction> = fc
  .record({ from: fc.integer({ min: -1, max: SPAN }), length: fc.integer({ min: 1, max: SPAN }) })
  .map(({ from, length }) => ({
    retract: {
      from: from < 0 ? Number.NEGATIVE_INFINITY : from,
      until: length === SPAN ? Number.POSITIVE_INFINITY : Math.max(from, 0) + length,
    },
  }));
const saying: fc.Arbitrary<Saying> = fc.oneof(
  { weight: 4, arbitrary: statement },
  { weight: 1, arbitrary: retraction },
);
const isRetraction = (item: Saying): item is Retraction => 'retract' in item;
/** It was run with 10,000, too. */
const HISTORIES = 1_000;

/** The rows that a store would hold after the histories, each with its belief's revisions. */
function play(history: readonly Saying[]): Row[] {
  const rows: Row[] = [];
  history.forEach((item, index) => {
    const revision = index + 1;
    const believed = rows.filter((row) => row.until === Number.POSITIVE_INFINITY);
    const write = isRetraction(item)
      ? decideRetraction(believed, rows.length + 1, item.retract)
      : decideFactWrite(believed, rows.length + 1, item, (a, b) => a === b);
    for (const version of write.closed) {
      const row = rows.find((item) => item.version === version);
      if (row !== undefined) row.until = revision;
    }
    rows.push(...write.asserted.map((item) => ({ ...item, from: revision, until: Number.POSITIVE_INFINITY })));
    if (isRetraction(item)) return;
    expect(write.outcome === 'duplicate').toBe(write.asserted.length === 0);
    expect(write.holding.length).toBeGreaterThan(0);
  });
  return rows;
}

/** The oracle: for each revision a plain table of what holds at each moment. */
function oracle(history: readonly Saying[]): Map<number, string>[] {
  const states = [new Map<number, string>()];
  for (const item of history) {
    const next = new Map(states.at(-1));
    if (isRetraction(item)) for (const moment of MOMENTS) if (contains(item.retract, moment)) next.delete(moment);
    if (!isRetraction(item))
      for (const { valid, body } of item)
        for (const moment of MOMENTS) if (contains(valid, moment)) next.set(moment, body);
    states.push(next);
  }
  return states;
}

describe('two clocks', () => {
  it('agree with a plain table of every belief, at every moment and every revision', () => {
    fc.assert(
      fc.property(fc.array(saying, { minLength: 1, maxLength: 12 }), (history) => {
        const rows = play(history);
        for (const [revision, expected] of oracle(history).entries()) {
          for (const moment of MOMENTS) {
            const holding = rows.filter(
              (row) => contains(row.valid, moment) && row.from <= revision && revision < row.until,
            );
            expect(holding.map((row) => row.body)).toEqual(expected.has(moment) ? [expected.get(moment)] : []);
          }
        }
      }),
      { numRuns: HISTORIES },
    );
  });

  it('never hold two versions for one moment of one belief, and count versions without a gap', () => {
    fc.assert(
      fc.property(fc.array(saying, { minLength: 1, maxLength: 10 }), (history) => {
        const rows = play(history);
        expect(rows.map((row) => row.version)).toEqual(rows.map((_, index) => index + 1));
        for (const [index, a] of rows.entries())
          for (const b of rows.slice(index + 1))
            expect(overlaps(a.valid, b.valid) && a.from < b.until && b.from < a.until).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('saying the same again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(saying, { maxLength: 6 }), statement, (history, last) => {
        const rows = play([...history, last]);
        expect(play([...history, last, last])).toEqual(rows);
      }),
      { numRuns: 200 },
    );
  });
});
