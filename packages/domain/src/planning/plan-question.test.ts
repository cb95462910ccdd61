import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { orderSubGoals } from './order-sub-goals.ts';
import { planQuestion, planWhole, withConfidence } from './plan-question.ts';
import type { SubGoal } from './sub-goal.ts';

const CONTEXT = { validAt: '2026-11-30T00:00:00.000Z', accessLevel: 'internal' } as const;
const told = (question: string) => {
  const plan = planQuestion(question, CONTEXT);
  const show = ({ id, question: text, period, needs, timeline }: SubGoal) =>
    [
      id,
      text,
      period && `${period.from?.slice(0, 7) ?? ''}/${period.until?.slice(0, 7) ?? ''}`,
      timeline && 'timeline',
      needs.length > 0 && `after ${needs}`,
    ]
      .filter(Boolean)
      .join(' | ');
  return plan === null ? null : [plan.kind, ...plan.subGoals.map(show)];
};

describe('a question is taken apart by its form', () => {
  test.each([
    ['What is the payment term for customers?', 'lookup', 'g1 | What is the payment term for customers'],
    ['Please, who leads the Berlin office?', 'lookup', 'g1 | who leads the Berlin office'],
    ['供应商的付款期限是多少天？', 'lookup', 'g1 | 供应商的付款期限是多少天'],
    ['What was the rate in March 2024?', 'time_range', 'g1 | What was the rate | 2024-03/2024-04'],
    ['How did the rate change since 2024?', 'time_range', 'g1 | the rate | 2024-01/ | timeline'],
    ['How has the rate changed?', 'time_range', 'g1 | the rate | / | timeline'],
    ['What has changed about overtime?', 'time_range', 'g1 | overtime | / | timeline'],
    ['What changed in the rate in 2024?', 'time_range', 'g1 | the rate | 2024-01/2025-01 | timeline'],
    ["What's new about parking?", 'time_range', 'g1 | parking | / | timeline'],
    ['What changes were made to the rate?', 'time_range', 'g1 | the rate | / | timeline'],
    ['Has the rate been changed since 2024?', 'time_range', 'g1 | the rate | 2024-01/ | timeline'],
    ['Did customers pay a fee for a change?', 'lookup', 'g1 | Did customers pay a fee for a change'],
    ['Does a manager have to approve a change?', 'lookup', 'g1 | Does a manager have to approve a change'],
    ['When did the rate change?', 'time_range', 'g1 | the rate | / | timeline'],
    ['When was the rate last changed?', 'time_range', 'g1 | the rate | / | timeline'],
    ['加班有什么变化？', 'time_range', 'g1 | 加班 | / | timeline'],
    ['加班方面最近有哪些变化？', 'time_range', 'g1 | 加班 | / | timeline'],
    ['关于加班的政策，有变化吗？', 'time_range', 'g1 | 加班 | / | timeline'],
    ['年假什么时候变的？', 'time_range', 'g1 | 年假 | / | timeline'],
    ['年假变了吗？', 'time_range', 'g1 | 年假 | / | timeline'],
    ['2023年至2024年付款期限有哪些变化？', 'time_range', 'g1 | 付款期限 | 2023-01/2025-01 | timeline'],
    [
      'Compare the notice period for suppliers with customers',
      'comparison',
      'g1 | the notice period for suppliers',
      'g2 | the notice period for customers',
    ],
    [
      'Which is longer, the notice period for suppliers or the one for customers?',
      'comparison',
      'g1 | the notice period for suppliers',
      'g2 | the notice period for customers',
    ],
    ['客户和供应商的付款期限有什么不同？', 'comparison', 'g1 | 客户的付款期限', 'g2 | 供应商的付款期限'],
    ['客户的付款期限比供应商的付款期限长吗？', 'comparison', 'g1 | 客户的付款期限', 'g2 | 供应商的付款期限'],
    [
      'Was the rate higher in 2025 than in 2023?',
      'comparison',
      'g2 | the rate | 2023-01/2024-01',
      'g1 | the rate | 2025-01/2026-01 | after g2',
    ],
    [
      '2023年和2025年的付款期限有什么不同？',
      'comparison',
      'g1 | 付款期限 | 2023-01/2024-01',
      'g2 | 付款期限 | 2025-01/2026-01 | after g1',
    ],
    [
      'What is the limit of the person who leads the Berlin office?',
      'multi_hop',
      'g1 | Who leads the Berlin office',
      'g2 | What is the limit of {g1} | after g1',
    ],
    [
      '负责管理上海仓库的部门的审批限额是多少？',
      'multi_hop',
      'g1 | 谁负责管理上海仓库',
      'g2 | {g1}的审批限额是多少 | after g1',
    ],
    [
      'How much is the allowance in March 2024 and in March 2030?',
      'time_range',
      'g1 | How much is the allowance | 2024-03/2024-04',
      'g2 | How much is the allowance | 2030-03/2030-04 | after g1',
    ],
    [
      'In 2023, 2024 and 2025, what was the rate?',
      'time_range',
      'g1 | what was the rate | 2023-01/2024-01',
      'g2 | what was the rate | 2024-01/2025-01 | after g1',
      'g3 | what was the rate | 2025-01/2026-01 | after g1,g2',
    ],
    ['What was the rate in 2024, and in 2024?', 'time_range', 'g1 | What was the rate | 2024-01/2025-01'],
    [
      'How did the rate change in 2024 and in 2026?',
      'time_range',
      'g1 | the rate | 2024-01/2025-01 | timeline',
      'g2 | the rate | 2026-01/2027-01 | timeline | after g1',
    ],
    [
      '2024年3月和2030年3月的津贴是多少？',
      'time_range',
      'g1 | 津贴是多少 | 2024-03/2024-04',
      'g2 | 津贴是多少 | 2030-03/2030-04 | after g1',
    ],
    [
      '津贴在2024年3月和2030年3月分别是多少？',
      'time_range',
      'g1 | 津贴是多少 | 2024-03/2024-04',
      'g2 | 津贴是多少 | 2030-03/2030-04 | after g1',
    ],
  ])('%s', (question, ...expected) => expect(told(question)).toEqual(expected));

  test.each(['Tell me about parking', '停车', '', '???', '报销比例'])('%s is covered by no template', (question) => {
    expect(told(question)).toBeNull();
  });
});

test.each([
  'What is the limit of the person who leads the Berlin office in 2024 and in 2026?',
  'Which is longer, the notice period for suppliers or the one for customers in 2024 and in 2025?',
  '客户和供应商的付款期限在2024年和2025年有什么不同？',
])('%s: which time belongs to which part is not told by its form, so the whole is looked for at each', (question) => {
  expect(told(question)).toBeNull();
  const periods = planWhole(question, CONTEXT).subGoals.map(({ period }) => period?.from?.slice(0, 4));
  expect(periods).toEqual([...question.matchAll(/\d{4}/g)].map(([year]) => year));
});

test('more times than a plan has sub-goals are refused by name, not looked for in part', () => {
  const years = Array.from({ length: 9 }, (_, index) => `in ${2010 + index}`);
  for (const plan of [planQuestion, planWhole])
    expect(() => plan(`What was the rate ${years.join(' and ')}?`, CONTEXT)).toThrow(
      /1 to 8 sub-goals, not 9: ask less/,
    );
});

test('what is not surely understood is looked for by both channels', () => {
  const sure = planQuestion('What is the rate?', CONTEXT);
  expect(sure?.subGoals[0]?.channels).toEqual(['words']);
  expect(planWhole('the rate', CONTEXT).subGoals[0]?.channels).toEqual(['words', 'vectors']);
  if (sure !== null) expect(withConfidence(sure, 0.69).subGoals[0]?.channels).toEqual(['words', 'vectors']);
});

const goal = (id: string, change: Partial<SubGoal> = {}): SubGoal => ({
  id,
  question: id,
  kind: 'lookup',
  period: null,
  timeline: false,
  needs: [],
  channels: ['words'],
  accessLevel: 'internal',
  ...change,
});

describe('what waits for what', () => {
  test('by data, by time and by permission', () => {
    const year = (from: string, until: string) => ({ from: `${from}-01-01`, until: `${until}-01-01` });
    const ordered = orderSubGoals([
      goal('g1', { question: 'limit of {g4}' }),
      goal('g2', { question: 'rate', period: year('2025', '2026') }),
      goal('g3', { question: 'rate', period: year('2023', '2024') }),
      goal('g4', { question: 'who', accessLevel: 'restricted' }),
      goal('g5', { question: 'who', accessLevel: 'public' }),
    ]);
    expect(ordered.map(({ id, needs }) => [id, ...needs])).toEqual([
      ['g3'],
      ['g2', 'g3'],
      ['g5'],
      ['g4', 'g5'],
      ['g1', 'g4'],
    ]);
  });

  test('a search that names a restricted result is itself restricted', () => {
    const [, second, third] = orderSubGoals([
      goal('g1', { accessLevel: 'restricted' }),
      goal('g2', { question: 'limit of {g1}', accessLevel: 'public' }),
      goal('g3', { question: 'office of {g2}', accessLevel: 'public' }),
    ]);
    expect([second?.accessLevel, third?.accessLevel]).toEqual(['restricted', 'restricted']);
  });

  test.each([
    [[], /1 to 8 sub-goals, not 0/],
    [Array.from({ length: 9 }, (_, i) => goal(`g${i + 1}`)), /not 9/],
    [[goal('g1'), goal('g1')], /same id/],
    [[goal('g1', { question: 'of {g7}' })], /needs g7, which the plan doesn't have/],
    [[goal('g1', { question: '{g2}' }), goal('g2', { question: '{g1}' })], /cycle: g1 → g2; g2 → g1/],
    [[goal('g1', { needs: ['g1'] })], /cycle/],
  ])('a plan that could not be carried out is refused by name', (goals, message) => {
    expect(() => orderSubGoals(goals)).toThrow(message);
  });
});

test('whatever is asked, a plan is a bounded order in which everything stands after what it needs', () => {
  const word = fc.constantFrom(
    'what',
    'is',
    'the',
    'rate',
    'of',
    'person',
    'who',
    'leads',
    'Berlin',
    'compare',
    'and',
    'in',
    '2024',
    'than',
    '比',
    '和',
    '的',
    '付款',
    '多少',
    '？',
    '{g1}',
    '{g9}',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
      ),
      (question) => {
        const safe = question.replace(/\{g\d+\}/g, '');
        for (const plan of [planQuestion(safe, CONTEXT), planWhole(safe, CONTEXT)]) {
          const before = new Set<string>();
          for (const { id, needs } of plan?.subGoals ?? []) {
            for (const need of needs) expect(before).toContain(need);
            before.add(id);
          }
          expect(before.size).toBeLessThanOrEqual(8);
        }
      },
    ),
  );
});

test('no question of a thousand characters holds the planner up', () => {
  // No clock: a rule that is exponential would run into the test's own time-out.
  for (const part of ['和', '的', '比', '什么', 'of the ', 'compare a and ', 'between a and ', 'who ', '负责', 'a 1 '])
    planQuestion(part.repeat(1_000).slice(0, 1_000), CONTEXT);
});
