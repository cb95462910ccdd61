import { fileURLToPath } from 'node:url';
import { Verdict } from '@cleanslate/contracts';
import { type Platform, SERVICE_NAMES, startPlatform } from '@cleanslate/testing';
import { Answer, parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { judgeAnswer, readAnswerKey, readSample } from '../fixtures/answer-key.ts';
import { expectConserved } from '../fixtures/conservation.ts';
import { show } from '../fixtures/scripted-platform.ts';

const LANGUAGES = [
  ['en', 'acme', ['knowledge-en', 'circular-en', 'forum-en']],
  ['zh', 'globex', ['knowledge-zh']],
] as const;

const SOURCES = '../fixtures/question-sources.yaml';

let platform: Platform;
beforeAll(async () => {
  const services = SERVICE_NAMES.filter((name) => name !== 'retriever');
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services, log: show });
  await platform.start('retriever', { SOURCES_FILE: fileURLToPath(new URL(SOURCES, import.meta.url)) });
  for (const [, tenant, sets] of LANGUAGES) {
    const client = await platform.client(tenant);
    for (const set of sets) await client.facts.import(parsePolicySet(readSample(`questions-${set}.yaml`)));
  }
});
afterAll(() => platform?.[Symbol.asyncDispose]());

describe('the sample questions', () => {
  test.each(LANGUAGES)(
    'in "%s" are answered as the key has it, or not known',
    { timeout: 120_000 },
    async (language, tenant) => {
      const client = await platform.client(tenant);
      const { validAt, questions } = readAnswerKey(`questions-${language}.yaml`);
      const asked = await Promise.all(
        questions.map(({ ask }) =>
          client.submit({ workflow: 'question-answering', input: { question: ask }, validAt }),
        ),
      );
      const judged = await Promise.all(
        asked.map(async ({ taskId }, index) => {
          const task = await client.result(taskId);
          const expected = questions[index];
          if (expected === undefined || task.state !== 'completed') return { said: { task: task.error }, wanted: {} };
          return judgeAnswer(task.result, expected);
        }),
      );
      expect(judged.map(({ said }) => said)).toEqual(judged.map(({ wanted }) => wanted));
      await expectConserved(platform);
    },
  );
});

type Asked = { readonly sources?: readonly string[]; readonly accessLevel?: 'public'; readonly tenant?: string };

async function ask(question: string, { tenant, ...more }: Asked = {}) {
  const client = await platform.client(tenant);
  const { taskId, pin } = await client.submit({ workflow: 'question-answering', input: { question, ...more } });
  const task = await client.result(taskId);
  return { task, pin, client, answer: task.state === 'completed' ? Answer.parse(task.result) : undefined };
}

const refsOf = (answer: Answer | undefined) =>
  (answer?.statements ?? []).flatMap((each) => (each.kind === 'quote' ? [each.fact] : []));

test('an answer quotes facts that hold at its pin, says that no model took part, and shows how the question was taken apart', async () => {
  const { answer, task, client, pin } = await ask(
    'What is the approval limit of the person who leads the Berlin office?',
  );
  expect(answer).toMatchObject({ pin, provider: { kind: 'offline' }, plan: { kind: 'multi_hop', by: 'template' } });
  for (const statement of answer?.statements ?? []) {
    if (statement.kind !== 'quote') continue;
    const { fact } = await client.facts.get({ knowledgeId: statement.fact.split('@')[0] ?? '', ...pin });
    expect(fact.statement).toBe(statement.quote);
  }
  const { steps } = await client.steps(task.taskId);
  expect(steps.map(({ stepId, after }) => [stepId, ...after])).toEqual([
    ['plan'],
    ['retrieve', 'plan'],
    ['analyze', 'retrieve', 'retrieve#2'],
    ['generate', 'plan', 'analyze'],
    ['validate', 'generate'],
    ['retrieve#2', 'plan', 'retrieve'],
  ]);
});

test('what is not known was looked for by all channels first: the missing evidence is the query of an added step', async () => {
  const { answer, task } = await ask('What is the pension contribution of apprentices?');
  expect(answer).toMatchObject({ outcome: 'not_known', statements: [], missing: [{ why: 'no_evidence' }] });
  expect(task.steps.map(({ stepId }) => stepId)).toEqual([
    'plan',
    'retrieve',
    'analyze',
    'generate',
    'validate',
    'retrieve#2',
    'analyze#2',
    'generate#2',
    'validate#2',
  ]);
  const client = await platform.client();
  const { steps } = await client.steps(task.taskId);
  const searched = steps.find(({ stepId }) => stepId === 'retrieve#2');
  expect(searched).toMatchObject({
    feedback: [{ code: 'EVIDENCE_MISSING' }],
    output: { channels: ['words', 'vectors'] },
  });
});

test('nothing above the level that was asked for is read', async () => {
  const question = 'What is the training budget of an employee?';
  expect((await ask(question)).answer).toMatchObject({ outcome: 'answered' });
  expect((await ask(question, { accessLevel: 'public' })).answer).toMatchObject({ outcome: 'not_known', evidence: [] });
});

describe('sources beside the knowledge base', () => {
  test('answer with a sentence of theirs, cited by its place; instructions in them are nothing', async () => {
    const question = 'How much is reimbursed for a taxi ride?';
    expect((await ask(question)).answer).toMatchObject({ outcome: 'not_known' });
    const { answer } = await ask(question, { sources: ['travel-desk'] });
    expect(answer).toMatchObject({
      outcome: 'answered',
      statements: [{ quote: 'Taxi rides are reimbursed up to EUR 35 per trip.', value: '35', unit: 'EUR' }],
    });
    expect(refsOf(answer)[0]).toMatch(/^source:travel-desk:travel-notes\.md/);
    expect(answer?.markdown).not.toContain('900');
  });

  test('are held against the facts: two that differ and weigh the same are a dispute, with all sides', async () => {
    const { answer, task, client } = await ask('How long must invoices be kept?', { sources: ['travel-desk'] });
    expect(answer).toMatchObject({
      outcome: 'not_known',
      missing: [{ why: 'disputed' }],
      disputes: [{ ruling: 'disputed' }],
    });
    const sides = answer?.disputes[0]?.sides.map(({ fact }) => fact?.replace(/:.*/, ''));
    expect(sides).toEqual(expect.arrayContaining(['hb-invoice-retention@1', 'forum-invoice-retention@1', 'source']));
    expect(task.state).toBe('completed');
    await client.close();
  });

  test('that can not be asked are named; what the others say is answered all the same', async () => {
    const { answer } = await ask('How many characters must a password have?', { sources: ['nowhere', 'travel-desk'] });
    expect(answer).toMatchObject({
      outcome: 'answered',
      unreachable: [{ source: 'nowhere', code: 'SOURCE_FORBIDDEN' }],
    });
    expect(refsOf(answer)).toEqual(['hb-password@1']);
  });

  test('that the tenant does not have end the task by name, and name those that it has', async () => {
    const { task } = await ask('How long is parental leave?', { sources: ['payroll'] });
    const message = expect.stringContaining(
      'source "payroll" is none that this tenant may ask: those are knowledge, travel-desk, nowhere',
    );
    expect(task).toMatchObject({ state: 'failed', error: { code: 'SOURCE_UNKNOWN', message } });
  });
});

test('a claim that the knowledge base has not decided on is shown beside the fact that stands', async () => {
  const client = await platform.client();
  const set = (sourceType: string, source: string, value: string) =>
    parsePolicySet(`
policySet: { name: lunch, source: ${source}, sourceType: ${sourceType} }
facts:
  - { id: lunch-voucher, subject: lunch.voucher, predicate: value, unit: EUR, modality: is, value: "${value}", statement: A lunch voucher is worth EUR ${value}. }
`);
  await client.facts.import(set('human_confirmed', 'handbook', '8'));
  await client.facts.import(set('external_source', 'blog', '11'));
  const { answer } = await ask('How much is a lunch voucher worth?');
  expect(answer).toMatchObject({ outcome: 'answered', statements: [{ value: '8', fact: 'lunch-voucher@1' }] });
  expect(answer?.disputes).toMatchObject([
    { ruling: 'disputed', sides: [{ fact: 'lunch-voucher@1' }, { value: '11', fact: null }] },
  ]);
});

describe('a generator that lies', () => {
  beforeAll(async () => {
    await platform.service('generator').stop();
    await platform.start('generator', {}, new URL('../fixtures/lying-answerer.ts', import.meta.url).pathname);
  });

  test.each([
    ['How long is parental leave?', 'QUOTE_DIFFERS', '16'],
    ['Must visitors wear a badge?', 'POLARITY_TURNED', null],
    ['How many days of annual leave do full-time employees have?', 'FACT_NOT_VALID_AT_PIN', '28'],
  ])('once is sent back and mended: %s (%s)', async (question, code, value) => {
    const { answer, task, client } = await ask(question);
    expect(task).toMatchObject({ state: 'completed', round: 2 });
    expect(answer?.statements).toMatchObject([{ value }]);
    const { steps } = await client.steps(task.taskId);
    const verdict = Verdict.parse(steps.find(({ stepId }) => stepId === 'validate')?.output);
    expect(verdict.decision).toBe('rework');
    expect(verdict.reasons.map((reason) => reason.code)).toContain(code);
  });

  test('always has its task fail, and no result leaves it', async () => {
    const { task } = await ask('How many characters must a password have?');
    expect(task).toMatchObject({ state: 'failed', result: null, error: { code: 'VALIDATION_EXHAUSTED' } });
    await expectConserved(platform);
  });
});
