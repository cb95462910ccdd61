import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerFrom, factsOf, plainFact } from './facts.fixture.ts';
import type { FoundFact } from './schemas.ts';

const EN = factsOf('knowledge-en', 'circular-en', 'forum-en');
const ZH = factsOf('knowledge-zh');

const told = (question: string) => {
  const { answer } = answerFrom(question, /\p{Script=Han}/u.test(question) ? ZH : EN);
  const quotes = answer.statements.filter((each) => each.kind === 'quote');
  return [
    answer.outcome,
    ...quotes.map(({ value, unit, verdict }) => [value, unit, verdict].filter(Boolean).join(' ')),
  ];
};

// None of these stands among the sample questions the words were written for.
describe('what a fact says is answered, however it is asked', () => {
  test.each([
    ['How much annual leave do full-time employees get?', '28 days'],
    ['What does a parking space cost?', '40 EUR'],
    ["What's the price of a parking space?", '40 EUR'],
    ['What’s an employee’s training budget?', '1200 EUR'],
    ["How long've invoices to be kept?", '10 years'],
    ["Doesn't a parking space cost EUR 40?", '40 EUR'],
    ['Can I work from abroad?', '30 days yes'],
    ['How long do we keep invoices?', '10 years'],
    ['Must every visitor wear a badge?', 'yes'],
    ['Who may approve EUR 20,000?', '20000 EUR'],
    ['What is the minimum length of a password?', '14 characters'],
    ['年假多少天？', '12 天'],
    ['客户应在多少天内付款？', '30 天'],
    ['发票保存期限是多少年？', '30 年'],
    ['员工每周可以居家办公几天？', '2 天'],
    ['谁负责管理上海仓库？', '物流部'],
    ['What has changed about annual leave?', '25 days', '28 days'],
    ['When did annual leave change?', '25 days', '28 days'],
    ['加班有什么变化？', '40 元'],
    ['加班政策有哪些变化？', '40 元'],
    ['年假方面有什么变化？', '10 天', '12 天'],
    ['年假何时调整过？', '10 天', '12 天'],
  ])('%s → %s', (question, ...said) => expect(told(question)).toEqual(['answered', ...said]));
});

describe('the nearest fact is no answer', () => {
  test.each([
    ['How long is the notice period for employees?'],
    ['What is the budget for travel?'],
    ['What is the maximum hotel price in Berlin?'],
    ['Who leads the Paris office?'],
    ["What's the price of a parking space in Berlin?"],
    ["What's plan S's training budget?"],
    ['Who leads the regional director?'],
    ['What is the maximum length of a password?'],
    ['How much does a parking space cost per day?'],
    ['What is annual leave for contractors?'],
    ['May visitors accept gifts worth more than EUR 50?'],
    ['Is mileage reimbursed at EUR 0.50 per kilometre?'],
    ['What was the annual leave in 2019?'],
    ['What is it?'],
    ['What is the maximum?'],
    ['加班费有什么变化？'],
    ['加班费是多少？'],
    ['加班率是多少？'],
    ['年假金是多少？'],
    ['试用期最短多久？'],
    ['合同保存期限是多少年？'],
    ['供应商的违约金最高是多少？'],
    ['员工可以每周居家办公3天吗？'],
    ['多少？'],
    ['密码什么时候修改？'],
    ['What changes at midnight?'],
  ])('%s → not known', (question) => expect(told(question)).toEqual(['not_known']));
});

test.each([
  ['How did it change?', EN, '“it”: the knowledge base holds nothing that answers it.'],
  ['股票有什么变化？', ZH, '知识库中没有能回答的内容。'],
])('%s → no blank and no empty brackets where the question is about no time', (question, facts, said) => {
  expect(answerFrom(question, facts).answer.markdown).toContain(said);
});

test.each([
  ['What has changed about parking?', EN, 'No change of it is on record.'],
  ['What changed about parking in May 2026?', EN, 'No change of it is on record from 2026-05-01 until 2026-06-01.'],
  ['加班有什么变化？', ZH, '没有变化的记录。'],
])('%s of one version only → that no change is on record', (question, facts, said) => {
  expect(answerFrom(question, facts).answer.markdown).toContain(`\n- ${said}\n`);
});

test.each([
  ['What has changed about annual leave?', EN],
  ['年假有什么变化？', ZH],
  ['What does a parking space cost?', EN],
])('%s → nothing about changes where there are some, or where nobody asked', (question, facts) => {
  expect(answerFrom(question, facts).answer.markdown).not.toMatch(/No change of it|没有变化的记录/);
});

test('what needs an answer that is not known names that question, not its number in the plan', () => {
  const { markdown } = answerFrom('What is the approval limit of the person who leads the Oslo office?', EN).answer;
  expect(markdown).toContain('“What is the approval limit of ‹Who leads the Oslo office›”: it needs an answer');
  expect(markdown).not.toMatch(/\{g1\}/);
});

test('what has ended, or will, is a change', () => {
  const ends = EN.map((fact) => ({ ...fact, validUntil: fact.validUntil ?? '2027-01-01T00:00:00.000Z' }));
  expect(answerFrom('What has changed about parking?', ends).answer.markdown).not.toContain('No change of it');
  expect(answerFrom('Did parking change in May 2026?', ends).answer.markdown).toContain('No change of it');
});

describe('a question that is negated itself has no yes or no', () => {
  const rules = [
    plainFact('devices', 'Employees must not use private devices.'),
    plainFact('shebei', '员工不得使用私人设备。'),
  ];
  test.each([
    ['May employees use private devices?', 'no'],
    ['May employees use private devices or not?', 'no'],
    ['May employees not use private devices?', null],
    ['Are employees not allowed to use private devices?', null],
    ['员工可以使用私人设备吗？', 'no'],
    ['员工可不可以使用私人设备？', 'no'],
    ['员工能不能使用私人设备？', 'no'],
    ['员工不可以使用私人设备吗？', null],
  ])('%s → %s', (question, verdict) => {
    expect(answerFrom(question, rules).answer.statements).toMatchObject([{ verdict }]);
  });
});

describe('a currency named in words is asked for', () => {
  const fees = [plainFact('fee', 'The parking fee is EUR 4 per day.'), plainFact('toll', 'The road toll is $9.')];
  test.each([
    ['How many euros is the parking fee?', 'answered'],
    ['How much is the parking fee in dollars?', 'not_known'],
    ['How much is the road toll in dollars?', 'answered'],
    ['How many euros is the road toll?', 'not_known'],
  ])('%s → %s', (question, outcome) => expect(answerFrom(question, fees).answer.outcome).toBe(outcome));
});

test('one subject in several spellings is one thing: their facts contradict each other', () => {
  const of = (subject: string, value: string): FoundFact => ({
    ...plainFact(`fee-${value}`, `The parking fee is EUR ${value} per day.`),
    assertion: { subject, predicate: 'per_day', value, unit: 'EUR', polarity: 'positive', modality: 'is' },
  });
  const told = (...facts: readonly FoundFact[]) => answerFrom('How much is the parking fee per day?', facts).answer;
  expect(told(of('Parking Fee', '4'), of('parking_fee', '6'), of('parking-fee', '7'))).toMatchObject({
    outcome: 'not_known',
    missing: [{ why: 'disputed' }],
    disputes: [{ sides: [{}, {}, {}] }],
  });
  expect(told(of('parking_fee', '4'), of('parking.fee', '6')).statements).toHaveLength(2);
});

test('a number that a rule begins at makes no plain no of it', () => {
  expect(told('May employees accept gifts?')).toEqual(['answered', '50 EUR']);
  expect(told('May employees accept gifts worth more than EUR 50?')).toEqual(['answered', '50 EUR no']);
});

// Statements without subject and predicate, as people write them down.
const PLAIN = [
  'Support tickets of priority 1 are answered within 2 hours.',
  'Support tickets of priority 2 are answered within 8 hours.',
  'The CEO is Maria Lang.',
  'The travel budget for 2026 is EUR 120,000.',
  'Employees on probation may not take remote days.',
  'The office is open from 8:00 to 18:00.',
  '公司总部位于深圳。',
  '发生数据泄露时应在72小时内通知客户。',
].map((statement, index) => plainFact(`note-${index}`, statement));

describe('plain statements', () => {
  test.each([
    ['How quickly are priority 1 tickets answered?', PLAIN[0]?.statement],
    ['How fast do we answer priority 2 support tickets?', PLAIN[1]?.statement],
    ['Who is the CEO?', PLAIN[2]?.statement],
    ['What is the travel budget for 2026?', PLAIN[3]?.statement],
    ['When is the office open?', PLAIN[5]?.statement],
    ['公司总部在哪里？', PLAIN[6]?.statement],
    ['数据泄露后多久通知客户？', PLAIN[7]?.statement],
  ])('%s → %s', (question, quote) => {
    expect(answerFrom(question, PLAIN).answer.statements).toMatchObject([{ quote }]);
  });

  test.each([
    ['What is the travel budget for 2027?'],
    ['How fast are priority 3 tickets answered?'],
    ['Who is our CFO?'],
    ['公司分部在哪里？'],
  ])('%s → not known', (question) => expect(answerFrom(question, PLAIN).answer.outcome).toBe('not_known'));

  test('two that say the same of the same with other numbers are a dispute; a label tells things apart', () => {
    const two = [plainFact('a', 'Backups are kept for 35 days.'), plainFact('b', 'We keep our backups for 30 days.')];
    const backups = answerFrom('How long are backups kept?', two).answer;
    expect(backups).toMatchObject({ outcome: 'not_known', missing: [{ why: 'disputed' }] });
    expect(backups.disputes[0]?.reason).toBe('people say different things');
    const tickets = answerFrom('How fast are support tickets answered?', PLAIN).answer;
    expect(tickets).toMatchObject({ outcome: 'answered', disputes: [] });
    expect(tickets.statements).toHaveLength(2);
    const zh = [plainFact('a', '数据备份保留35天。'), plainFact('b', '数据备份应保留90天。')];
    expect(answerFrom('数据备份保留多久？', zh).answer.disputes).toHaveLength(1);
  });

  test('a rule for some is no yes or no for all', () => {
    const [some] = answerFrom('May employees on probation take remote days?', PLAIN).answer.statements;
    expect(some).toMatchObject({ verdict: 'no' });
    expect(answerFrom('May employees take remote days?', PLAIN).answer.statements).toMatchObject([{ verdict: null }]);
  });
});

test('a guess, and text that speaks to a machine, answer nothing', () => {
  const [fact] = EN.filter(({ fact: ref }) => ref === 'hb-parking@1');
  if (fact === undefined) throw new Error('the sample has no parking');
  const ask = (change: Partial<typeof fact>) =>
    answerFrom('What does a parking space cost?', [{ ...fact, ...change }]).answer.outcome;
  expect(ask({})).toBe('answered');
  expect(ask({ statement: 'I guess that a parking space costs EUR 40 per month.' })).toBe('not_known');
  expect(ask({ suspicious: true })).toBe('not_known');
});

test('an open dispute of the knowledge base is shown beside the fact that stands', () => {
  const challenger = {
    statement: 'A parking space costs EUR 60 per month.',
    value: '60',
    unit: 'EUR',
    sourceRef: 'mail',
  };
  const facts = EN.map((fact) =>
    fact.fact === 'hb-parking@1'
      ? { ...fact, challengers: [{ disputeId: 3, sourceType: 'external_source' as const, ...challenger }] }
      : fact,
  );
  const { answer } = answerFrom('What does a parking space cost?', facts);
  expect(answer).toMatchObject({ outcome: 'answered', statements: [{ value: '40' }] });
  expect(answer.disputes).toMatchObject([{ sides: [{ fact: 'hb-parking@1' }, { disputeId: 3, value: '60' }] }]);
  expect(answer.markdown).toContain('EUR 60');
});

test('between a dated and an undated statement age decides nothing: a recent web page does not outrank the handbook', () => {
  const recent = EN.map((fact) =>
    fact.fact === 'forum-invoice-retention@1' ? { ...fact, validFrom: '2026-10-30T00:00:00.000Z' } : fact,
  );
  const { answer } = answerFrom('How long must invoices be kept?', recent);
  expect(answer).toMatchObject({
    outcome: 'answered',
    statements: [{ value: '10' }],
    disputes: [{ ruling: 'decided' }],
  });
});

test('the same subject and predicate is the same thing, in whatever language it is said', () => {
  const zh = ZH.map((fact) =>
    fact.assertion?.subject === 'qinghe.records.invoice'
      ? { ...fact, assertion: { ...fact.assertion, subject: 'records.invoice' } }
      : fact,
  );
  const { answer } = answerFrom('How long must invoices be kept?', [...EN, ...zh]);
  expect(answerFrom('How long must invoices be kept?', [...EN, ...ZH]).answer.outcome).toBe('answered');
  expect(answer).toMatchObject({ outcome: 'not_known', missing: [{ why: 'disputed' }] });
  const sides = answer.disputes[0]?.sides.map(({ fact }) => fact);
  expect(sides).toEqual(expect.arrayContaining(['hb-invoice-retention@1', 'qb-invoice-retention@1']));
});

test('a question without words in a fact finds none of its words there; nothing is thrown and nothing made up', () => {
  const statements = new Set([...EN, ...ZH].map(({ statement }) => statement));
  const word = fc.constantFrom(
    'what',
    'is',
    'leave',
    'annual',
    'invoices',
    'who',
    'berlin',
    '2023',
    'in',
    'per',
    'day',
    '付款',
    '客户',
    '多少',
    '比',
    '和',
    '的',
    'EUR 50',
    '?',
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 10 }), (words) => {
      const { answer } = answerFrom(words.join(' '), [...EN, ...ZH]);
      for (const each of answer.statements) if (each.kind === 'quote') expect(statements).toContain(each.quote);
      expect(answer.statements.length + answer.missing.length).toBeGreaterThan(0);
    }),
  );
});

test('the facts in another order give the same answer', () => {
  for (const question of ['How long must invoices be kept?', 'What is the notice period?', '付款期限是多少天？']) {
    const facts = [...EN, ...ZH];
    expect(answerFrom(question, [...facts].reverse()).answer).toEqual(answerFrom(question, facts).answer);
  }
});
