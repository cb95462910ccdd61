import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPeriods, withoutPeriods } from './find-periods.ts';

const AT = '2026-11-30T00:00:00.000Z';
const show = (iso: string | null) => iso?.slice(0, 10) ?? '…';
const read = (question: string) =>
  findPeriods(question, AT).map(({ period }) => `${show(period.from)} ${show(period.until)}`);

describe('times that a question names', () => {
  test.each([
    ['What was the rule in March?', '2026-03-01 2026-04-01'],
    ['What was the rule in December?', '2025-12-01 2026-01-01'],
    ['the rate in March 2024', '2024-03-01 2024-04-01'],
    ['the rate in Sept. 2024', '2024-09-01 2024-10-01'],
    ['the rate in Q3 2024', '2024-07-01 2024-10-01'],
    ['in the second half of 2024', '2024-07-01 2025-01-01'],
    ['the rate on 2024-02-29', '2024-02-29 2024-03-01'],
    ['the rate on 1 March 2024', '2024-03-01 2024-03-02'],
    ['the rate in 2023', '2023-01-01 2024-01-01'],
    ['the rate last year', '2025-01-01 2026-01-01'],
    ['the rate last month', '2026-10-01 2026-11-01'],
    ['the rate before July 2024', '… 2024-07-01'],
    ['the rate since 2025', '2025-01-01 …'],
    ['the rate after 2024', '2025-01-01 …'],
    ['between 2023 and 2025', '2023-01-01 2026-01-01'],
    ['from March 2024 to June 2024', '2024-03-01 2024-07-01'],
    ['2024年3月的付款期限', '2024-03-01 2024-04-01'],
    ['二〇二四年的付款期限与2023年十二月', '2023-12-01 2024-01-01'],
    ['三月份的付款期限', '2026-03-01 2026-04-01'],
    ['2024年第三季度', '2024-07-01 2024-10-01'],
    ['2024年下半年', '2024-07-01 2025-01-01'],
    ['去年的付款期限', '2025-01-01 2026-01-01'],
    ['上个月的付款期限', '2026-10-01 2026-11-01'],
    ['2024年3月5日的付款期限', '2024-03-05 2024-03-06'],
    ['2024年以前的付款期限', '… 2024-01-01'],
    ['2024年以来的付款期限', '2024-01-01 …'],
    ['２０２４年之后的付款期限', '2025-01-01 …'],
    ['从2023年至2025年', '2023-01-01 2026-01-01'],
  ])('%s → %s', (question, expected) => expect(read(question)).toEqual([expected]));

  test.each([
    ['May employees work from abroad?'],
    ['How many of the 2024 employees have a badge?'],
    ['Is the limit EUR 2000?'],
    ['试用期最长几个月？'],
    ['年假有多少天？'],
    ['the rate on 2024-02-30'],
  ])('%s names none', (question) => expect(read(question)).toEqual([]));

  test('two times are two, unless they are the ends of one', () => {
    expect(read('Was it longer in 2023 than in 2025?')).toEqual(['2023-01-01 2024-01-01', '2025-01-01 2026-01-01']);
    expect(read('2023年和2025年的付款期限')).toEqual(['2023-01-01 2024-01-01', '2025-01-01 2026-01-01']);
  });

  test.each([
    ['What was the rate in March 2024?', 'What was the rate?'],
    ['In 2023, what was the rate?', 'what was the rate?'],
    ['2024年3月的付款期限是多少？', '付款期限是多少？'],
    ['自2024年起付款期限是多少？', '付款期限是多少？'],
  ])('%s asks %s', (question, rest) => {
    expect(withoutPeriods(question, findPeriods(question, AT))).toBe(rest);
  });
});

test('whatever is asked, times are found in order, apart, and never empty', () => {
  const word = fc.constantFrom(
    'in',
    '2024',
    'March',
    'between',
    'and',
    '2024年',
    '三月份',
    '至',
    'since',
    '去年',
    '2024-03-01',
    'rate',
    '9999年',
    'Q4 2024',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
      ),
      (question) => {
        const found = findPeriods(question, AT);
        let end = 0;
        for (const { period, span } of found) {
          expect(span.start).toBeGreaterThanOrEqual(end);
          expect(span.end).toBeLessThanOrEqual(question.length);
          if (period.from !== null && period.until !== null) expect(period.from < period.until).toBe(true);
          end = span.end;
        }
        withoutPeriods(question, found);
      },
    ),
  );
});

// So many that looking at each of them beside each other one would outlast the test.
const TIMES = 200_000;

test.each([
  ['in 2024 ', TIMES],
  ['2024年3月', TIMES],
  ['between March ', 0],
  ['the the ', 0],
])('of a question of a million characters every time is found: "%s" again and again', (part, times) => {
  expect(findPeriods(part.repeat(TIMES), AT)).toHaveLength(times);
});
