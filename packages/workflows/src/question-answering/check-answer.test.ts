import { Verdict } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { ANSWER_CHECKLIST, checkAnswer } from './check-answer.ts';
import { answerFrom, factsOf, PIN } from './facts.fixture.ts';
import { renderAnswer } from './render-answer.ts';
import type { Answer, FoundFact } from './schemas.ts';

const FACTS = factsOf('knowledge-en', 'circular-en', 'forum-en');

type Change = (answer: Answer) => unknown;

/** The verdict on a changed answer, its text for people changed along unless the change is about that. */
function judge(question: string, change: Change = (answer) => answer, facts: readonly FoundFact[] = FACTS): Verdict {
  const { answer, found, subGoals } = answerFrom(question, FACTS);
  const searched = found.map(({ subGoal, output }) => ({ query: output.question ?? subGoal.question, output }));
  return checkAnswer({ question, pin: PIN, subGoals, found, extra: searched, facts, answer: change(answer) });
}
const rendered =
  (change: (answer: Answer) => Omit<Answer, 'markdown'>): Change =>
  (answer) => {
    const { markdown: _, ...fields } = { markdown: '', ...change(answer) };
    return { ...fields, markdown: renderAnswer(fields) };
  };
const first = (answer: Answer) => {
  const [statement] = answer.statements;
  if (statement?.kind !== 'quote') throw new Error('no quote');
  return statement;
};
const withFirst = (change: object): Change =>
  rendered((answer) => ({ ...answer, statements: [{ ...first(answer), ...change }, ...answer.statements.slice(1)] }));
const codesOf = ({ reasons }: Verdict) => [...new Set(reasons.map(({ code }) => code))];

const LEAVE = 'How many days of annual leave do full-time employees have?';
const COMPARED = 'What is the difference between the notice period for suppliers and for customers?';

test('what the rules answer passes every check', () => {
  for (const question of [
    LEAVE,
    COMPARED,
    'How long must invoices be kept?',
    'How much may a hotel room cost per night?',
  ]) {
    const verdict = judge(question);
    expect(verdict).toMatchObject({ decision: 'pass', score: 1, reasons: [] });
    expect(verdict.checks).toHaveLength(1 + ANSWER_CHECKLIST.length);
  }
});

test('the text of a generator of the release before is taken while a rollout lasts', () => {
  const before: Change = (answer) => ({ ...answer, markdown: answer.markdown.replace(/^- No change of it.*\n/m, '') });
  const question = 'What has changed about parking?';
  expect(answerFrom(question, FACTS).answer.markdown).toContain('No change of it');
  expect(judge(question, before)).toMatchObject({ decision: 'pass' });
});

describe('a generator that lies is sent back with the reason', () => {
  test.each<[string, string, Change, string]>([
    [
      'another number in the quote',
      LEAVE,
      withFirst({ quote: 'Full-time employees have 82 days of annual leave per year.' }),
      'QUOTE_DIFFERS',
    ],
    ['another value', LEAVE, withFirst({ value: '82' }), 'QUOTE_DIFFERS'],
    ['a value that no fact has', LEAVE, withFirst({ value: '28', unit: 'weeks' }), 'QUOTE_DIFFERS'],
    ['other dates', LEAVE, withFirst({ validFrom: null }), 'QUOTE_DIFFERS'],
    ['a version that no longer holds', LEAVE, withFirst({ fact: 'hb-annual-leave@1' }), 'FACT_NOT_VALID_AT_PIN'],
    ['a version that nobody knows', LEAVE, withFirst({ fact: 'hb-annual-leave@9' }), 'FACT_UNKNOWN'],
    [
      'a fact about something else',
      LEAVE,
      withFirst({
        fact: 'hb-parental-leave@1',
        quote: 'Parental leave is 16 weeks on full pay.',
        value: '16',
        unit: 'weeks',
        validFrom: null,
      }),
      'NOT_AN_ANSWER',
    ],
    ['an answer to another question', LEAVE, withFirst({ question: 'How much leave is there' }), 'OTHER_QUESTION'],
    ['a yes that is no question', LEAVE, withFirst({ verdict: 'yes' }), 'POLARITY_TURNED'],
    ['a no for a yes', 'Must visitors wear a badge?', withFirst({ verdict: 'no' }), 'POLARITY_TURNED'],
    [
      'nothing at all',
      LEAVE,
      rendered((answer) => ({ ...answer, statements: [], outcome: 'not_known' })),
      'ANSWER_LEFT_OUT',
    ],
    [
      'a gap that is none',
      LEAVE,
      rendered((answer) => ({
        ...answer,
        missing: [{ subGoal: 'g1', question: LEAVE, why: 'disputed', period: null }],
        outcome: 'partly_answered',
      })),
      'GAP_MADE_UP',
    ],
    [
      'a gap passed over',
      'How did the price of a parking space change between 2024 and 2026?',
      rendered((answer) => ({ ...answer, missing: [], outcome: 'answered' })),
      'GAP_HIDDEN',
    ],
    [
      'a dispute kept quiet',
      'How long must invoices be kept?',
      rendered((answer) => ({ ...answer, disputes: [] })),
      'DISPUTE_HIDDEN',
    ],
    [
      'another difference',
      COMPARED,
      rendered((answer) => ({
        ...answer,
        statements: answer.statements.map((each) =>
          each.kind === 'comparison' ? { ...each, difference: '20' } : each,
        ),
      })),
      'COMPARISON_WRONG',
    ],
    [
      'the comparison turned round',
      COMPARED,
      rendered((answer) => ({
        ...answer,
        statements: answer.statements.map((each) =>
          each.kind === 'comparison' ? { ...each, relation: 'greater' } : each,
        ),
      })),
      'COMPARISON_WRONG',
    ],
    ['another outcome', LEAVE, rendered((answer) => ({ ...answer, outcome: 'not_known' })), 'WRONG_OUTCOME'],
    [
      'a word more for people',
      LEAVE,
      (answer) => ({ ...answer, markdown: `${answer.markdown}Trust me.` }),
      'MARKDOWN_DIFFERS',
    ],
    ['its reasoning', LEAVE, (answer) => ({ ...answer, reasoning: 'Let me think.' }), 'FORBIDDEN_KEY'],
    ['a key of its own', LEAVE, (answer) => ({ ...answer, note: 'x' }), 'SCHEMA_INVALID'],
    ['no object', LEAVE, () => 'pass', 'SCHEMA_INVALID'],
  ])('%s', (_name, question, change, code) => {
    const verdict = judge(question, change);
    expect(verdict.decision).toBe('rework');
    expect(codesOf(verdict)).toContain(code);
  });

  test.each<[string, Change]>([
    ['question', rendered((answer) => ({ ...answer, question: 'What else?' }))],
    ['pin', rendered((answer) => ({ ...answer, pin: { ...answer.pin, revision: 8 } }))],
    ['plan.subGoals', rendered((answer) => ({ ...answer, plan: { ...answer.plan, subGoals: [] } }))],
  ])('an answer of another %s is rejected: no rework mends it', (path, change) => {
    expect(judge(LEAVE, change)).toMatchObject({ decision: 'reject', reasons: [{ code: 'OTHER_SUBJECT', path }] });
  });
});

test('a fact of another tenant is unknown here, whatever the answer says of it', () => {
  const verdict = judge(
    LEAVE,
    (answer) => answer,
    FACTS.filter(({ fact }) => !fact.startsWith('hb-annual-leave')),
  );
  expect(codesOf(verdict)).toContain('FACT_UNKNOWN');
});

test('what lies above the level that was asked for is not cited', () => {
  const secret = FACTS.map((fact) =>
    fact.fact === 'hb-annual-leave@2' ? { ...fact, accessLevel: 'restricted' as const } : fact,
  );
  expect(codesOf(judge(LEAVE, (answer) => answer, secret))).toContain('ABOVE_ACCESS_LEVEL');
});

test('a contradicting fact that no search brought up is looked for, once', () => {
  const question = 'How much does training cost?';
  const { answer, found, subGoals } = answerFrom('What is the training budget of an employee?', FACTS);
  const [budget] = FACTS.filter(({ fact }) => fact === 'hb-training@1');
  if (budget?.assertion == null) throw new Error(question);
  const rival: FoundFact = {
    ...budget,
    fact: 'old-memo@1',
    statement: 'Each employee has a training budget of EUR 900 per year.',
    assertion: { ...budget.assertion, value: '900' },
  };
  const known = found.map(({ subGoal, output }) => ({
    subGoal,
    output: { ...output, facts: output.facts.filter(({ fact }) => fact !== rival.fact) },
  }));
  const input = {
    question: answer.question,
    pin: PIN,
    subGoals,
    found: known,
    extra: [],
    facts: [...FACTS, rival],
    answer,
  };
  const unseen = checkAnswer(input);
  expect(unseen.reasons).toMatchObject([
    { code: 'SOURCE_UNSEEN', evidence: 'What is the training budget of an employee' },
  ]);
  const extra = [
    {
      query: 'What is the training budget of an employee',
      output: { question: null, facts: [], channels: [], unreachable: [] },
    },
  ];
  expect(checkAnswer({ ...input, extra }).decision).toBe('pass');
});

test('a question longer than a query may be is searched for by its beginning, once', () => {
  const long = `What is the dental allowance ${'of a very senior employee '.repeat(30)}😀?`;
  const { answer, found, subGoals } = answerFrom(long, FACTS);
  const input = { question: answer.question, pin: PIN, subGoals, found, extra: [], facts: FACTS, answer };
  const verdict = checkAnswer(input);
  expect(Verdict.parse(verdict)).toMatchObject({ decision: 'rework', reasons: [{ code: 'EVIDENCE_MISSING' }] });
  const query = verdict.reasons[0]?.evidence ?? '';
  const extra = [{ query, output: { question: query, facts: [], channels: [], unreachable: [] } }];
  expect(checkAnswer({ ...input, extra }).decision).toBe('pass');
});

test('"not known" holds only once all channels were searched; the reason is the query', () => {
  const { answer, found, subGoals } = answerFrom('What is the dental allowance?', FACTS);
  const input = { question: answer.question, pin: PIN, subGoals, found, extra: [], facts: FACTS, answer };
  expect(checkAnswer(input)).toMatchObject({
    decision: 'rework',
    reasons: [{ code: 'EVIDENCE_MISSING', evidence: 'What is the dental allowance' }],
  });
});
