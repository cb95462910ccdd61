import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toImportedBody } from './fact-body.ts';
import { overlaps } from './valid-range.ts';
import { WriteDraft } from './write-draft.ts';

const fact = {
  knowledgeId: 'k',
  subject: 's',
  predicate: 'p',
  unit: null,
  tags: [],
  periods: [],
  polarity: 'positive' as const,
  modality: 'is' as const,
  knowledgeType: 'rule' as const,
};
const source = { sourceRef: 'x', sourceType: 'human_confirmed' as const, messageId: 'm', saidAt: 0 };
const body = (value: string) => toImportedBody(fact, { value, statement: `It is ${value}.` }, source);
const same = (a: { contentHash: string }, b: { contentHash: string }) => a.contentHash === b.contentHash;

const write = fc.record({
  from: fc.integer({ min: 0, max: 8 }),
  length: fc.integer({ min: 1, max: 8 }),
  value: fc.constantFrom('1', '2'),
});

describe('a batch about one fact', () => {
  it('gives each write that changes something its own revision, and no two versions one belief', () => {
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: 8 }), (writes) => {
        const draft = new WriteDraft([]);
        const waves = writes.map(({ from, length, value }) => {
          const valid = { from, until: from + length };
          return draft.write('t', 'k', [{ valid, body: body(value) }], same).wave;
        });
        const written = waves.filter((wave) => wave >= 0);
        expect(written).toEqual(written.map((_, index) => index));
        expect(draft.waves).toBe(written.length);
        expect(draft.closings).toEqual([]);
        const rows = draft.versions;
        for (const row of rows) if (row.untilWave !== null) expect(row.untilWave).toBeGreaterThan(row.wave);
        for (const [index, a] of rows.entries())
          for (const b of rows.slice(index + 1)) {
            const together = a.wave < (b.untilWave ?? Infinity) && b.wave < (a.untilWave ?? Infinity);
            expect(overlaps(a.valid, b.valid) && together).toBe(false);
          }
      }),
      { numRuns: 300 },
    );
  });

  it('closes what was believed before it, once', () => {
    const before = { version: 4, valid: { from: 0, until: 10 }, body: body('1') };
    const draft = new WriteDraft([
      { tenantId: 't', knowledgeId: 'k', nextVersion: 5, believed: [before], weights: new Map([[4, 0.5]]) },
    ]);
    draft.write('t', 'k', [{ valid: { from: 2, until: 4 }, body: body('2') }], same);
    draft.write('t', 'k', [{ valid: { from: 2, until: 4 }, body: body('3') }], same);
    expect(draft.closings).toEqual([{ tenantId: 't', knowledgeId: 'k', version: 4, wave: 0 }]);
    expect(draft.versions.map(({ version, wave, untilWave }) => [version, wave, untilWave])).toEqual([
      [5, 0, null],
      [6, 0, null],
      [7, 0, 1],
      [8, 1, null],
    ]);
    // What is left of the doubted version is as doubted.
    expect([...draft.find('t', 'k').weights]).toEqual([4, 5, 6].map((version) => [version, 0.5]));
    expect(draft.findByKey('t', body('1').factKey ?? '').map((state) => state.knowledgeId)).toEqual(['k']);
    expect(draft.findByKey('other', body('1').factKey ?? '')).toEqual([]);
  });
});
