import type { FactView } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import {
  checkDates,
  checkFactRef,
  checkFigures,
  checkQuote,
  findForbiddenKey,
  holdsAt,
  supportOf,
  toVerdict,
} from './index.ts';

const codes = (text: string, ...evidence: string[]) =>
  checkFigures({ text, path: 'x' }, supportOf(evidence)).map(({ code }) => code);

describe('checkFigures', () => {
  test.each([
    ['pays 9 billion yuan', '支付人民币90亿元'],
    ['人民币1000万元', 'RMB 10 million'],
    ['30 days', 'within thirty (30) days'],
    ['每年18%', 'one and one-half percent per month'],
    ['18%', '１８％'],
    ['0.05% per day', '每日万分之五'],
    ['百分之五', '5%'],
    ['1,234.5', '１２３４．５０'],
    ['21天', '15个工作日'],
    ['200%', 'two times the fees'],
    ['USD 5', '$5.00'],
  ])('%s is said by %s', (claim, evidence) => {
    expect(codes(claim, evidence)).toEqual([]);
  });

  test.each([
    ['90 billion yuan', '人民币90亿元'],
    ['10万元', '10亿元'],
    ['5‰', '5%'],
    ['30 months', '30 days'],
    ['30 business days', '30 days'],
    ['18% per month', '18% per annum'],
    ['$5', '¥5'],
    ['3.14', '3.15'],
    ['1.5 million dollars', '$1.5 billion'],
    ['45 days', 'no figure at all'],
  ])('%s is not said by %s', (claim, evidence) => {
    expect(codes(claim, evidence)).toEqual(['FIGURE_NOT_IN_EVIDENCE']);
  });

  test.each([['不一致的一方'], ['a formula without one fixed number'], ['the first of two ways']])(
    '%s states no figure',
    (claim) => {
      expect(codes(claim)).toEqual([]);
    },
  );

  test('the reason shows what the evidence says', () => {
    const [reason] = checkFigures(
      { text: 'within 60 days', path: 'findings.0.explanation' },
      supportOf(['within thirty (30) days']),
    );
    expect(reason).toMatchObject({ path: 'findings.0.explanation' });
    expect(reason?.message).toContain('«thirty (30) days»');
  });
});

describe('checkDates', () => {
  test('the same day in another way of writing is the same', () => {
    expect(
      checkDates({ text: 'since 2025年1月1日 and May 4, 2026', path: 'x' }, ['2025-01-01', 'on the 4th of May 2026']),
    ).toEqual([]);
  });

  test('another day is caught', () => {
    expect(checkDates({ text: 'since 2 January 2025', path: 'x' }, ['2025-01-01'])[0]).toMatchObject({
      code: 'DATE_NOT_IN_EVIDENCE',
      remedy: expect.stringContaining('2025-01-01'),
    });
  });
});

describe('checkQuote', () => {
  const text = 'The term is 30 days. The rate is 5%.';

  test('a quote at its span passes', () => {
    expect(checkQuote(text, { quote: '30 days', span: { start: 12, end: 19 }, path: 'x' })).toBeNull();
  });

  test.each([
    ['40 days', { start: 12, end: 19 }, 'QUOTE_NOT_IN_DOCUMENT'],
    ['30 days', { start: 0, end: 7 }, 'QUOTE_AT_OTHER_OFFSET'],
    ['30 days', { start: 500, end: 507 }, 'QUOTE_AT_OTHER_OFFSET'],
    ['', { start: 0, end: 0 }, 'QUOTE_EMPTY'],
  ])('«%s» at %o: %s', (quote, span, code) => {
    expect(checkQuote(text, { quote, span, path: 'x' })?.code).toBe(code);
  });
});

describe('facts at a pin', () => {
  const range = {
    validFrom: '2025-01-01T00:00:00.000Z',
    validUntil: '2026-01-01T00:00:00.000Z',
    revisionFrom: 3,
    revisionUntil: 9,
  };

  test.each([
    ['2025-01-01T00:00:00.000Z', 3, true],
    ['2024-12-31T23:59:59.999Z', 3, false],
    ['2026-01-01T00:00:00.000Z', 3, false],
    ['2025-06-01T00:00:00.000Z', 2, false],
    ['2025-06-01T00:00:00.000Z', 9, false],
  ])('at %s, revision %i: %s', (validAt, revision, expected) => {
    expect(holdsAt(range, { validAt, revision })).toBe(expected);
  });

  test('an id with a version that is not there', () => {
    const facts: FactView[] = [];
    const answer = checkFactRef('a@1', 'x', facts, { validAt: '2025-01-01T00:00:00.000Z', revision: 1 });
    expect(answer).toMatchObject({ reason: { code: 'FACT_UNKNOWN' } });
  });
});

describe('toVerdict', () => {
  const reason = { code: 'X', path: 'x', message: 'm', remedy: 'r' };

  test('decides by the checks alone', () => {
    const good = { check: 'a', detail: 'looked', reasons: [] };
    const bad = { check: 'b', detail: 'looked', reasons: [reason] };
    expect(toVerdict([good, good])).toMatchObject({ decision: 'pass', score: 1 });
    expect(toVerdict([good, bad])).toMatchObject({ decision: 'rework', score: 0.5, reasons: [reason] });
    expect(toVerdict([good, { ...bad, fatal: true }])).toMatchObject({ decision: 'reject' });
  });

  test('keeps within the contract however much fails', () => {
    const long = { ...reason, message: 'm'.repeat(9_000) };
    const verdict = toVerdict([{ check: 'a', detail: '', reasons: Array.from({ length: 500 }, () => long) }]);
    expect(verdict.reasons).toHaveLength(100);
    expect(verdict.reasons[0]?.message).toHaveLength(2_000);
  });
});

describe('findForbiddenKey', () => {
  test('finds it at any depth, without overflowing', () => {
    let deep: unknown = { thoughts: '' };
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(findForbiddenKey(deep)).toMatch(/thoughts$/);
    expect(findForbiddenKey({ a: { b: ['messages'] } })).toBeNull();
  });
});
