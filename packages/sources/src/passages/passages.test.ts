import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTerms, rankPassages } from './rank-passages.ts';
import { splitPassages } from './split-passages.ts';

describe('passages', () => {
  it('are whole paragraphs under their headings, never over a heading or a page', () => {
    const text = '# Leave\n\nFirst.\n\nSecond.\n\n## Parental\nSixteen weeks.\n\n# Travel\n\nEconomy.\n\fNext page.';
    expect(splitPassages(text).map(({ text: passage, headings }) => [passage, headings])).toEqual([
      ['# Leave\n\nFirst.\n\nSecond.', ['Leave']],
      ['## Parental\nSixteen weeks.', ['Leave', 'Parental']],
      ['# Travel\n\nEconomy.', ['Travel']],
      ['Next page.', ['Travel']],
    ]);
  });

  it('hold everything that is no blank, once, at its offsets, and none is longer than two thousand characters', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\n\n', '\f', '# H\n', '。', '. ', ' '),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.nat(5_000).map((length) => 'x'.repeat(length)),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
        (text) => {
          const passages = splitPassages(text);
          const blank = (part: string) => part.replaceAll(/\s/g, '');
          expect(blank(passages.map((passage) => passage.text).join(''))).toBe(blank(text));
          for (const { start, end, text: passage } of passages) {
            expect(text.slice(start, end)).toBe(passage);
            expect(passage.length).toBeLessThanOrEqual(3_001);
          }
        },
      ),
    );
  });

  it('of a megabyte without a blank are cut in a moment', () => {
    // No clock: a rule that is quadratic would run into the test's own time-out.
    expect(splitPassages('a'.repeat(1_000_000)).length).toBeGreaterThan(400);
    splitPassages('\n'.repeat(1_000_000));
    splitPassages(' \n'.repeat(300_000));
  });
});

describe('ranking', () => {
  const rank = (texts: string[], query: string) => rankPassages(texts, countTerms, query, 10);

  it('puts the passage that says most of the question first, in English and Chinese; what shares no word is left out', () => {
    const texts = [
      'An invoice is filed.',
      'Travel is booked in economy.',
      'Invoices are paid within 30 days.',
      '发票应在三十日内支付。',
    ];
    expect(rank(texts, 'When are invoices paid?').map(({ item }) => item)).toEqual([texts[2], texts[0]]);
    expect(rank(texts, '发票何时支付')[0]?.item).toBe(texts[3]);
    expect(rank(texts, 'unrelated')).toEqual([]);
  });

  it('weighs a rare word more than a frequent one', () => {
    const texts = ['policy on gifts', 'policy policy on travel', 'policy on leave', 'policy on cars'];
    expect(rank(texts, 'policy gifts')[0]?.item).toBe(texts[0]);
  });

  it('gives scores from 0 to 1, best first, the same whatever stands around', () => {
    fc.assert(
      fc.property(fc.array(fc.lorem(), { maxLength: 12 }), fc.lorem(), (texts, query) => {
        const scores = rank(texts, query).map(({ score }) => score);
        expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
      }),
    );
  });
});
