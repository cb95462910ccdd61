import type { AccessLevel, Candidate, FactImport, Pin, Verdict } from '@cleanslate/contracts';
import { DEFAULT_SCREEN, orderSubGoals, planQuestion, type SubGoal } from '@cleanslate/domain';
import { hashedEmbeddings } from '@cleanslate/llm';
import { fakeStepContext } from '@cleanslate/runtime/testing';
import { findFactHistory, getLastRevision, withTransaction } from '@cleanslate/store';
import {
  type Answer,
  analyzeQuestion,
  type FoundSubGoal,
  generateAnswer,
  type QuestionPlanRecord,
  type Retrieved,
  type SubGoalRecord,
} from '@cleanslate/workflows';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Embedder } from '../../services/knowledge-maintainer/src/embedder.ts';
import { addFact } from '../../services/knowledge-maintainer/src/handlers/add-fact.ts';
import { giveFeedback } from '../../services/knowledge-maintainer/src/handlers/give-feedback.ts';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { settleBatch } from '../../services/knowledge-maintainer/src/handlers/settle-batch.ts';
import { retrieveForQuestionExecutor } from '../../services/retriever/src/handlers/question-answering.ts';
import { validateAnswerExecutor } from '../../services/validator/src/handlers/question-answering.ts';
import { createKnowledgeDatabase, type KnowledgeDatabase } from './knowledge-database.ts';

// The two agents of question answering that read the knowledge base, on the real one, without the platform around them.
const tenantId = 'acme';
const PROVIDER = { kind: 'offline', model: 'offline' } as const;
const NO_SOURCES = {
  list: () => [],
  get: (_tenant: string, name: string) => {
    throw new Error(`no source ${name}`);
  },
};

let at: KnowledgeDatabase;
let requests = 0;
beforeAll(async () => {
  at = await createKnowledgeDatabase(inject('postgresAdminUrl'));
});
afterAll(() => at[Symbol.asyncDispose]());

function fact(knowledgeId: string, subject: string, value: string, statement: string): FactImport {
  return {
    knowledgeId,
    subject,
    predicate: 'value',
    unit: 'EUR',
    tags: [],
    polarity: 'positive',
    modality: 'is',
    knowledgeType: 'rule',
    periods: [{ value, statement, validFrom: null, validUntil: null }],
  };
}

async function importOf(...facts: FactImport[]): Promise<void> {
  const data = { sourceRef: 'handbook', sourceType: 'internal_document' as const, facts };
  await importFacts(at.database, { tenantId, requestId: `r-${requests++}`, data });
}

/** What a completed task proposed. */
async function propose(taskId: string, body: Candidate): Promise<void> {
  const claim = { stepId: 's', attempt: 1, claimId: 'c' };
  const candidate = { ...claim, tenantId, taskId, candidateId: taskId, messageId: taskId, epoch: 1, body };
  const claims = [{ ...claim, candidates: [taskId] }];
  const settlement = {
    tenantId,
    taskId,
    verdict: 'passed' as const,
    validatorScore: 1,
    claims,
    reads: [],
    answer: null,
  };
  const batch = {
    candidates: [{ ...candidate, saidAt: new Date().toISOString() }],
    settlements: [{ ...settlement, messageId: `s-${taskId}` }],
  };
  await settleBatch(at.database, batch, DEFAULT_SCREEN);
}

async function readPin(): Promise<Pin> {
  const revision = await withTransaction(at.database, { role: 'cleanslate_retriever' }, getLastRevision);
  return { validAt: new Date().toISOString(), revision };
}

type Asked = {
  readonly found: readonly FoundSubGoal[];
  readonly answer: Answer;
  readonly judge: (answer: Answer) => Promise<Verdict>;
};

/** A question from its sub-goals to the verdict, each step as the platform would run it. */
async function ask(question: string, goals: readonly SubGoal[], pin: Pin): Promise<Asked> {
  const context = () => fakeStepContext({ tenantId });
  const retriever = retrieveForQuestionExecutor(at.database, async () => null, NO_SOURCES);
  const subGoals = goals.map((goal): SubGoalRecord => ({ ...goal, needs: [...goal.needs], channels: ['words'] }));
  const found: FoundSubGoal[] = [];
  for (const subGoal of subGoals) {
    const input = { subGoal, found, planned: subGoals, query: null, sources: null, pin };
    found.push({ subGoal, output: (await retriever.execute(context(), input)) as Retrieved });
  }
  const analysis = analyzeQuestion({ found, extra: [], now: Date.parse(pin.validAt), provider: PROVIDER });
  const plan: QuestionPlanRecord = {
    language: 'en',
    kind: 'lookup',
    confidence: 1,
    by: 'template',
    provider: PROVIDER,
  };
  const validator = validateAnswerExecutor(at.database);
  const judge = async (answer: Answer) =>
    (await validator.execute(context(), { question, pin, subGoals, found, extra: [], answer })) as Verdict;
  return { found, answer: generateAnswer(analysis, { question, pin, plan, subGoals }), judge };
}

function planOf(question: string, accessLevel: AccessLevel, { validAt }: Pin): readonly SubGoal[] {
  return planQuestion(question, { validAt, accessLevel })?.subGoals ?? [];
}

describe('a claim against a fact that nobody has decided on', () => {
  const QUESTION = 'How much is a lunch voucher worth?';
  const SECRET = 'A lunch voucher is worth EUR 11.';

  beforeAll(async () => {
    await importOf(
      fact('lunch', 'lunch.voucher', '8', 'A lunch voucher is worth EUR 8.'),
      fact('dinner', 'dinner.voucher', '20', 'A dinner voucher is worth EUR 20.'),
    );
    const said = (statement: string, subject: string, value: string, sourceRef: string): Candidate => ({
      statement,
      knowledgeType: 'rule',
      sourceType: 'internal_document',
      sourceRef,
      confidence: 1,
      importance: 1,
      derivedFrom: [],
      tags: [],
      assertion: { subject, predicate: 'value', value, unit: 'EUR', polarity: 'positive', modality: 'is' },
    });
    await propose('minutes', { ...said(SECRET, 'lunch.voucher', '11', 'board-minutes'), accessLevel: 'restricted' });
    // Its level is that of the fact that it was derived from: it names none.
    const budget = said('The board gives EUR 25 a dinner.', 'board.dinner', '25', 'board-minutes');
    await propose('budget', { ...budget, knowledgeId: 'budget', accessLevel: 'restricted' });
    const derived = said('A dinner voucher is worth EUR 25.', 'dinner.voucher', '25', 'an-analysis');
    await propose('analysis', { ...derived, derivedFrom: ['budget@1'] });
  });

  test('is shown to nobody below its own level, and nobody below is asked to show it', async () => {
    const pin = await readPin();
    const { found, answer, judge } = await ask(QUESTION, planOf(QUESTION, 'internal', pin), pin);
    expect(answer).toMatchObject({ outcome: 'answered', statements: [{ value: '8' }], disputes: [] });
    expect(JSON.stringify([found, answer])).not.toContain('EUR 11');
    const verdict = await judge(answer);
    expect(verdict).toMatchObject({ decision: 'pass', reasons: [] });
    expect(JSON.stringify(verdict)).not.toContain('EUR 11');
  });

  test('is shown to who may read it, and an answer that is silent about it is sent back', async () => {
    const pin = await readPin();
    const { answer, judge } = await ask(QUESTION, planOf(QUESTION, 'restricted', pin), pin);
    expect(answer.disputes).toMatchObject([{ sides: [{ fact: 'lunch@1' }, { fact: null, statement: SECRET }] }]);
    expect(await judge(answer)).toMatchObject({ decision: 'pass' });
    const silent = await judge({ ...answer, disputes: [] });
    expect(silent.reasons.map(({ code }) => code)).toContain('DISPUTE_HIDDEN');
  });

  test('is as restricted as the facts that it was derived from', async () => {
    const pin = await readPin();
    const question = 'How much is a dinner voucher worth?';
    const asked = async (level: AccessLevel) => {
      const { answer, judge } = await ask(question, planOf(question, level, pin), pin);
      return [answer.disputes.length, (await judge(answer)).decision];
    };
    expect([await asked('internal'), await asked('restricted')]).toEqual([
      [0, 'pass'],
      [1, 'pass'],
    ]);
  });

  test('is measured by the sub-goal that it answers, not by the highest of the plan', async () => {
    const pin = await readPin();
    const goal = (id: string, question: string, accessLevel: AccessLevel): SubGoal => ({
      id,
      question,
      accessLevel,
      kind: 'lookup',
      period: null,
      timeline: false,
      needs: [],
      channels: ['words'],
    });
    const goals = orderSubGoals([
      goal('g1', QUESTION, 'internal'),
      goal('g2', 'How much is a dinner voucher worth?', 'restricted'),
    ]);
    const { answer, judge } = await ask('How much are the vouchers worth?', goals, pin);
    expect(answer).toMatchObject({
      statements: [{ value: '8' }, { value: '20' }],
      disputes: [{ subGoal: 'g2', sides: [{ fact: 'dinner@1' }, { value: '25' }] }],
    });
    expect(await judge(answer)).toMatchObject({ decision: 'pass', reasons: [] });
  });
});

test('a search says by which channels all facts of its pin were looked through', async () => {
  const embeddings = hashedEmbeddings();
  const unexpected = (error: unknown) => {
    throw error;
  };
  const embedder = new Embedder({ database: at.database, embeddings, onError: unexpected, sweepMs: 600_000 });
  await embedder.open();
  await embedder.settled();
  await importOf(fact('marmot', 'marmot.toll', '3', 'Marmots pay a toll of EUR 3.'));
  const pin = await readPin();
  const embed = async (text: string) => {
    const [values] = await embeddings.embed([text]);
    return values ? { space: embeddings.space.id, values, rankWeight: 1 } : null;
  };
  const retriever = retrieveForQuestionExecutor(at.database, embed, NO_SOURCES);
  const [goal] = planOf('How much toll do marmots pay?', 'internal', pin);
  const subGoal = { ...goal, channels: ['words', 'vectors'] };
  const search = async () => {
    const input = { subGoal, found: [], planned: [subGoal], query: null, sources: null, pin };
    return ((await retriever.execute(fakeStepContext({ tenantId }), input)) as Retrieved).channels;
  };
  expect(await search()).toEqual(['words']);
  embedder.poke();
  await embedder.settled();
  expect(await search()).toEqual(['words', 'vectors']);
  await embedder.stop();
});

test('a claim against one version of a fact is shown beside that one, to who may read it', async () => {
  const SINCE = '2026-01-01T00:00:00.000Z';
  const said = (value: string, validFrom: string | null, validUntil: string | null): FactImport => ({
    ...fact('gym', 'gym.pass', value, ''),
    periods: [{ value, statement: `A gym pass costs EUR ${value}.`, validFrom, validUntil }],
  });
  await importOf(said('10', null, SINCE));
  const { assertion, statement } = {
    statement: 'A gym pass costs EUR 12.',
    assertion: { subject: 'gym.pass', predicate: 'value', value: '12', unit: 'EUR' },
  };
  const confirmed = { polarity: 'positive' as const, modality: 'is' as const };
  await addFact(at.database, {
    tenantId,
    requestId: `r-${requests++}`,
    data: {
      knowledgeId: 'gym',
      statement,
      assertion: { ...assertion, ...confirmed },
      accessLevel: 'restricted',
      validFrom: SINCE,
    },
  });
  // An import names no level.
  await importOf(said('15', SINCE, null));
  const pin = await readPin();
  const shown = async (accessLevel: AccessLevel) => {
    const goal: SubGoal = {
      id: 'g1',
      question: 'How much does a gym pass cost?',
      kind: 'lookup',
      timeline: true,
      needs: [],
      channels: [],
      accessLevel,
      period: { from: '2025-01-01T00:00:00.000Z', until: null },
    };
    const { found, answer, judge } = await ask(goal.question, [goal], pin);
    const facts = found.flatMap(({ output }) => output.facts);
    const claims = facts.map(({ statement, challengers }) => [statement, challengers.map(({ value }) => value)]);
    return { claims: claims.sort(), verdict: (await judge(answer)).decision };
  };
  expect(await shown('internal')).toEqual({ claims: [['A gym pass costs EUR 10.', []]], verdict: 'pass' });
  expect(await shown('restricted')).toEqual({
    claims: [
      ['A gym pass costs EUR 10.', []],
      ['A gym pass costs EUR 12.', ['15']],
    ],
    verdict: 'pass',
  });
});

describe('a weight that feedback has moved', () => {
  const QUESTION = 'How much does a visitor badge cost?';

  /** A completed task whose answer rested on this version, and what three people said of it. */
  async function judgeWrong(ref: string): Promise<void> {
    const taskId = `answer-${ref.replace('@', '-')}`;
    const answer = { at: new Date().toISOString(), holdsAt: null, facts: [ref] };
    const settlement = { tenantId, taskId, validatorScore: 1, claims: [], reads: [], answer, messageId: taskId };
    await settleBatch(
      at.database,
      { candidates: [], settlements: [{ ...settlement, verdict: 'passed' }] },
      DEFAULT_SCREEN,
    );
    for (const by of ['ann', 'ben', 'cyd']) {
      const data = { taskId, verdict: 'wrong' as const, by };
      await giveFeedback(at.database, { tenantId, requestId: `r-${requests++}`, data });
    }
  }

  const goalOf = (period: SubGoal['period']): readonly SubGoal[] => [
    {
      id: 'g1',
      question: QUESTION,
      kind: 'lookup',
      period,
      timeline: false,
      needs: [],
      channels: ['words'],
      accessLevel: 'internal',
    },
  ];
  const PERIODS = [
    ['at the pin', null],
    ['in a period', { from: '2025-01-01T00:00:00.000Z', until: '2026-01-01T00:00:00.000Z' }],
  ] as const;

  beforeAll(async () => {
    await importOf(
      fact('badge-desk', 'visitor.badge', '7', 'A visitor badge costs EUR 7.'),
      fact('badge-wall', 'visitor.badge', '9', 'A visitor badge costs EUR 9.'),
    );
  });

  test('decides for the retriever and the validator alike, and only from the revision on in which it moved', async () => {
    const before = await readPin();
    await judgeWrong('badge-wall@1');
    const after = await readPin();
    for (const [when, period] of PERIODS) {
      const then = await ask(QUESTION, goalOf(period), before);
      expect([when, then.answer.outcome, then.answer.disputes[0]?.ruling]).toEqual([when, 'not_known', 'disputed']);
      expect([when, await then.judge(then.answer)]).toMatchObject([when, { decision: 'pass', reasons: [] }]);
      const now = await ask(QUESTION, goalOf(period), after);
      expect([when, now.answer.statements]).toMatchObject([when, [{ fact: 'badge-desk@1', value: '7' }]]);
      expect([when, await now.judge(now.answer)]).toMatchObject([when, { decision: 'pass', reasons: [] }]);
    }
  });

  test('is the weight that the history shows at that revision', async () => {
    const { revision } = await readPin();
    const scope = { role: 'cleanslate_gateway', tenantId, readOnly: true } as const;
    const read = (asOf: number) =>
      withTransaction(at.database, scope, (tx) => findFactHistory(tx, tenantId, 'badge-wall', asOf));
    const [first] = await read(1);
    const [last] = await read(revision);
    expect(first?.weight).toBe(0.9);
    expect(last?.weight).toBeLessThan(0.6);
  });
});
