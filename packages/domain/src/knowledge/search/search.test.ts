import { describe, expect, it } from 'vitest';
import { freshnessOf, fuseLegs, pickDiverse } from './rank-hits.ts';
import { toSearchTerms } from './search-terms.ts';

describe('terms', () => {
  it('are English stems and Chinese characters and pairs, counted', () => {
    expect([...toSearchTerms('The suppliers supplied; a supplier supplies 30 units').keys()]).toEqual([
      'supplier',
      'suppli',
      '30',
      'unit',
    ]);
    expect(Object.fromEntries(toSearchTerms('违约金，违约'))).toEqual({ 违: 2, 约: 2, 违约: 2, 约金: 1, 金: 1 });
  });
  it('are the same for full width, case and composed forms', () => {
    expect(toSearchTerms('ＣＡＰ３０ café')).toEqual(toSearchTerms('cap30 cafe\u0301'));
  });
  it('hold nothing but letters and digits, and stay short, whatever the text', () => {
    const hostile = `'; DROP TABLE x; -- \\ a:* | & ! <-> \u0001 \u202e ${'z'.repeat(5_000)} 😀`;
    for (const term of toSearchTerms(hostile).keys()) expect(term).toMatch(/^[\p{L}\p{N}]{1,40}$/u);
  });
  it('of a megabyte without a blank are cut in a moment', () => {
    // No clock: a rule that is quadratic would run into the test's own time-out.
    toSearchTerms(`${'a'.repeat(1_000_000)}${'合'.repeat(300_000)}`);
  });
});

describe('ranking', () => {
  it('first in every leg is 1; a leg counts by its weight', () => {
    const fused = fuseLegs([
      { ids: [1, 2], weight: 1 },
      { ids: [1, 3], weight: 0.5 },
    ]);
    expect(fused.get(1)).toBeCloseTo(1);
    expect(fused.get(2) ?? 0).toBeGreaterThan(fused.get(3) ?? 0);
    expect(fuseLegs([])).toEqual(new Map());
  });
  it('age halves what a working note has, and leaves a core fact nine tenths', () => {
    const HOUR = 3_600_000;
    expect(freshnessOf('working', 0, 4 * HOUR)).toBeCloseTo(0.5);
    expect(freshnessOf('core', 0, 1e15)).toBeCloseTo(0.9);
    // Said later than the moment asked about: not older than new.
    expect(freshnessOf('core', 10 * HOUR, 0)).toBe(1);
  });
  it('a near repetition comes after what says something of its own; another number is no repetition', () => {
    const texts = ['a b c d e f', 'a b c d e f g', 'a b c d e f 30', 'a b c d e f 60', 'x y'];
    const hits = texts.map((hit, index) => ({ hit, score: 1 - index / 10 }));
    const termsOf = (text: string) => new Set(text.split(' '));
    expect(pickDiverse(hits, termsOf, 5).map(({ hit }) => hit)).toEqual([
      texts[0],
      texts[2],
      texts[3],
      texts[4],
      texts[1],
    ]);
    expect(pickDiverse(hits, termsOf, 2).map(({ hit }) => hit)).toEqual([texts[0], texts[2]]);
  });
});
