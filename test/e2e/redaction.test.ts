import { readFileSync } from 'node:fs';
import { Publisher } from '@cleanslate/bus';
import { type Candidate, encodeMessage, KnowledgePropose, KnowledgeSettle, subjects } from '@cleanslate/contracts';
import { type Platform, startPlatform, waitFor } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { findInFiles, findTraces } from '../fixtures/find-traces.ts';
import { show } from '../fixtures/scripted-platform.ts';

const tenant = 'acme';
const CANARY = 'Zebrafish';
const STATEMENT = `Customers of ${CANARY} Holdings must pay within 30 days of the invoice.`;
const CHALLENGE = `Customers of ${CANARY} Holdings may pay within 45 days of the invoice.`;
const sample = (name: string) => readFileSync(new URL(`../../infra/samples/${name}`, import.meta.url), 'utf8');
const policies = () => {
  const text = sample('policies-en.yaml').replace('Customers must pay within 30 days of the invoice.', STATEMENT);
  expect(text).toContain(CANARY);
  return parsePolicySet(text);
};
const document = `${sample('contract-en.md')}\n\nNote: ${STATEMENT}\n`;

const lines: string[] = [];
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({
    postgresAdminUrl: inject('postgresAdminUrl'),
    env: { LOG_LEVEL: 'debug' },
    log: (name, line) => {
      lines.push(line);
      show(name, line);
    },
  });
});
afterAll(() => platform[Symbol.asyncDispose]());

function candidate(statement: string, value: string): Candidate {
  return {
    statement,
    knowledgeId: 'hl-payment-term-max',
    knowledgeType: 'rule',
    sourceType: 'external_source',
    sourceRef: 'web:example.org',
    confidence: 0.95,
    importance: 0.9,
    derivedFrom: [],
    tags: [],
    assertion: {
      subject: 'contract.payment_term',
      predicate: 'max_days',
      value,
      unit: 'days',
      polarity: 'positive',
      modality: 'must',
    },
  };
}

/** As an analyzer says it; with `settle`, the scheduler's word that its claim won follows. */
async function propose(taskId: string, said: Candidate, settle: boolean): Promise<void> {
  const id = `${taskId}-candidate`;
  const head = { source: '/services/analyzer', time: new Date().toISOString(), tenantid: tenant, taskid: taskId };
  const claim = { stepid: 'analyze', attempt: 1, claimid: 'won' };
  await publish('worker', {
    stream: 'BLACKBOARD',
    subject: subjects.blackboard(tenant, taskId),
    messageId: `${id}-${Date.now()}`,
    body: encodeMessage(KnowledgePropose, { ...head, ...claim, id, candidateid: id }, said),
  });
  if (!settle) return;
  const claims = [{ stepId: 'analyze', attempt: 1, claimId: 'won', candidates: [id] }];
  const data = { taskId, verdict: 'passed' as const, validatorScore: 1, claims, reads: [], answer: null };
  await publish('scheduler', {
    stream: 'COMMANDS',
    subject: subjects.settle(tenant),
    messageId: `settle-${id}-${Date.now()}`,
    body: encodeMessage(KnowledgeSettle, { ...head, source: '/services/scheduler', id: `settle-${id}` }, data),
  });
}

async function publish(who: 'worker' | 'scheduler', message: Parameters<Publisher['publish']>[0]): Promise<void> {
  const bus = await platform.broker.connect(
    who === 'worker' ? { kind: 'worker', role: 'analyzer' } : { kind: 'scheduler' },
  );
  await using publisher = new Publisher(bus);
  await publisher.publish(message);
  await bus.close();
}

async function stateOf(candidateId: string): Promise<string | undefined> {
  const [row] = await platform.database.sql<{ state: string }>(
    `SELECT coalesce(outcome, state) || ' ' || coalesce(reason, '') AS state FROM knowledge.candidates WHERE candidate_id = $1`,
    [candidateId],
  );
  return row?.state.trim();
}

async function redact(knowledgeId: string): Promise<number> {
  const client = await platform.client(tenant);
  const { redactionId } = await client.facts.redact({ knowledgeId, reason: 'ticket 811', by: 'maria' });
  return redactionId ?? 0;
}

async function untilErased(redactionId: number) {
  const client = await platform.client(tenant);
  return await waitFor(
    'everything is erased',
    async () => {
      const { redactions } = await client.facts.redactions();
      return redactions.find((each) => each.redactionId === redactionId && each.state === 'erased');
    },
    { timeoutMs: 60_000 },
  );
}

test('what is redacted is in no table, stream, object or log any more, and does not come back', async () => {
  const client = await platform.client(tenant);
  await client.facts.import(policies());
  const input = { document: { name: 'contract.md', mediaType: 'text/markdown', text: document } };
  const submit = { workflow: 'contract-review', key: 'a-contract', input };
  const { taskId, pin } = await client.submit(submit);
  expect((await client.result(taskId)).state).toBe('completed');
  // A challenger, a candidate whose task goes on, one that was refused, and a message that nobody could read.
  await propose('t-dispute', candidate(CHALLENGE, '45'), true);
  await propose('t-waiting', candidate(STATEMENT, '30'), false);
  await propose('t-refused', { ...candidate(`Hello! ${STATEMENT}`, '31'), confidence: 0.1 }, true);
  const broken = JSON.stringify({ specversion: '1.0', said: STATEMENT });
  await publish('worker', {
    stream: 'BLACKBOARD',
    subject: subjects.blackboard(tenant, 't-broken'),
    messageId: 'broken-1',
    body: Buffer.from(broken),
  });
  await waitFor('the dead letter', async () => (await client.deadLetters.list()).letters.length > 0);
  await waitFor('the challenger and the others', async () => {
    const states = await Promise.all(
      ['t-dispute', 't-waiting', 't-refused'].map((task) => stateOf(`${task}-candidate`)),
    );
    return states[0]?.startsWith('disputed') && states[1] === 'waiting' && states[2]?.startsWith('rejected');
  });
  await platform.database.sql('ANALYZE');
  const before = await findTraces(platform, CANARY);
  for (const place of [
    'fact_versions.statement',
    'fact_lexemes.terms',
    'candidates.body',
    'disputes.challenger',
    'ledger.steps.output',
    'ledger.objects.bytes',
    'ledger.dead_letters.body',
    'pg_stats of fact_lexemes.terms',
    'stream EVENTS evt.task',
  ])
    expect(before.join('\n')).toContain(place);
  expect(before.join('\n')).toMatch(/chunk\.body/);

  await platform.database.sql('CHECKPOINT');
  expect(await findInFiles(platform, CANARY)).toContain('knowledge.fact_versions');

  const redactionId = await redact('hl-payment-term-max');
  const done = await untilErased(redactionId);
  expect(done.erased.objects).toBe(1);
  expect(done.erased.rows).toBeGreaterThan(1);
  expect(done.erased.tasks).toContain(taskId);
  expect(await findTraces(platform, CANARY)).toEqual([]);
  expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);

  // A tombstone: who, when and why; no hash that could be guessed at.
  const { versions } = await client.facts.history('hl-payment-term-max');
  expect(
    versions.map(({ statement, assertion, redacted }) => [statement, assertion, redacted?.by, redacted?.reason]),
  ).toEqual(versions.map(() => ['', null, 'maria', 'ticket 811']));
  const pinned = await client.facts.get({ knowledgeId: 'hl-payment-term-max', ...pin });
  expect(pinned.fact.redacted?.redactionId).toBe(redactionId);
  await expect(client.facts.get({ knowledgeId: 'hl-payment-term-max' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const all = await client.facts.asOf({ ...pin, prefix: 'hl-payment-term-max' });
  expect(all.facts).toEqual([]);

  // Said again: by the same message, by another task, by a person. Nothing of it is kept.
  await propose('t-waiting', candidate(STATEMENT, '30'), true);
  await propose('t-again', candidate(STATEMENT.toUpperCase(), '30'), true);
  await waitFor('the candidates', async () => (await stateOf('t-again-candidate')) === 'rejected redacted');
  expect(await stateOf('t-waiting-candidate')).toBe('rejected redacted');
  await expect(client.facts.import(policies())).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('redacted'),
  });
  await expect(client.facts.add({ statement: STATEMENT })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  expect(await findTraces(platform, CANARY)).toEqual([]);
  // Asked for again it is the same redaction.
  expect(await redact('hl-payment-term-max')).toBe(redactionId);

  // Not even in the files, once free space is given back: that of the tables by rewriting them, that of EVENTS at once.
  await platform.database.sql('VACUUM (FULL)');
  await platform.database.sql('CHECKPOINT');
  expect(await findInFiles(platform, CANARY)).toEqual([]);

  // What was submitted is known again, by a hash that nobody finds by trying.
  const hashes = await platform.database.sql(
    `SELECT body_hash FROM ledger.tasks WHERE task_id = '${taskId}' AND body_hash ~ '^keyed:[0-9a-f]{64}$'`,
  );
  expect(hashes).toHaveLength(1);
  expect((await client.submit(submit)).taskId).toBe(taskId);
  const other = { document: { ...input.document, text: sample('contract-en.md') } };
  await expect(client.submit({ ...submit, input: other })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  // Whoever runs the task again is told what it lacks.
  const forked = await client.result((await client.fork(taskId)).taskId);
  expect(forked).toMatchObject({ state: 'failed', error: { message: expect.stringMatching(/erased by a redaction/) } });
  expect(await findTraces(platform, CANARY)).toEqual([]);
});
