import fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimateTokens, promptRoom } from './tokens.ts';

test('D15: a hundred Chinese characters are 60 to 200 tokens, not 25; the room keeps a tenth of the window', () => {
  const text = '甲方应当在收到发票后三十日内支付全部价款，逾期按日万分之五支付违约金。'.repeat(3).slice(0, 100);
  const { low, high } = estimateTokens(text);
  expect(high).toBeGreaterThanOrEqual(60);
  expect(high).toBeLessThanOrEqual(200);
  expect(low).toBeGreaterThan(100 / 4);
  expect(promptRoom(10_000, 1_000)).toBe(8_000);
});

// What the tokenizers of the vocabularies o200k_base and cl100k_base count.
test.each([
  ['English prose', 'The supplier shall deliver the goods within thirty days of the date of the order.', 16, 16],
  ['JSON', '{"severity":"HIGH","amount":12500,"currency":"USD"}', 14, 14],
  ['German', 'Der Lieferant haftet unbeschränkt für Vorsatz und grobe Fahrlässigkeit.', 19, 25],
  ['Russian', 'Поставщик обязуется поставить товар в течение тридцати дней.', 15, 27],
  [
    'Chinese',
    '甲方应当在收到发票后三十日内支付全部价款，逾期按日万分之五支付违约金。'.repeat(3).slice(0, 100),
    89,
    100,
  ],
  ['Japanese', '供給者は注文日から30日以内に商品を納入しなければならない。', 22, 29],
  ['emoji', '😀👍🎉'.repeat(20), 80, 160],
  ['blanks', `a${' '.repeat(40)}`.repeat(50), 100, 100],
  ['numbers', '2024-01-31 12,345.67 1000000'.repeat(20), 301, 301],
])('%s: what tokenizers count lies between', (_, text, least, most) => {
  const { low, high } = estimateTokens(text);
  expect(low).toBeLessThanOrEqual(least);
  expect(high).toBeGreaterThanOrEqual(most);
});

test('never falls as a text grows, and takes linear time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(estimateTokens(a + b).high).toBeGreaterThanOrEqual(estimateTokens(a).high);
      expect(estimateTokens(a).low).toBeLessThanOrEqual(estimateTokens(a).high);
    }),
  );
  const before = process.cpuUsage();
  estimateTokens('ab 1合'.repeat(1_000_000));
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
