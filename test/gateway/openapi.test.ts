import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ENDPOINTS, HTTP_ROUTES, toOpenApi } from '@cleanslate/contracts';
import { checkoutRoot } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PLAN_WORKFLOWS, type Scripts, scripts } from '../fixtures/plan-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { OpenApiChecker } from './openapi-checker.ts';
import { bearer } from './platform.ts';

let p: ScriptedPlatform;
let api: OpenApiChecker;
let url = '';
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workflows: PLAN_WORKFLOWS,
    workers: ['analyzer', 'validator'],
    env: { LOG_LEVEL: 'info' },
    log: (name, line) => {
      const port = name === 'gateway' && /"httpPort":(\d+)/.exec(line)?.[1];
      if (port) url = `http://127.0.0.1:${port}`;
    },
  });
  await waitFor('the port of the gateway', () => url !== '');
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  api = new OpenApiChecker(document, url, bearer());
});
afterAll(() => p?.[Symbol.asyncDispose]());

test('the document is OpenAPI 3.1 by a validator of others, and the one that is served is the one in docs/schemas', async () => {
  const served = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  const { valid, errors } = await new Validator().validate(structuredClone(served));
  expect([valid, errors]).toEqual([true, undefined]);
  expect(served).toEqual(JSON.parse(JSON.stringify(toOpenApi())));
  expect(served).toEqual(JSON.parse(await readFile(join(checkoutRoot, 'docs/schemas/openapi.json'), 'utf8')));
});

test('whatever a tenant can ask on the bus, it can ask over HTTP (add a line to HTTP_ROUTES)', () => {
  const served = new Set(HTTP_ROUTES.map((route) => route.endpoint));
  const missing = ENDPOINTS.filter((endpoint) => endpoint.plane !== 'obj' && !served.has(endpoint));
  // Its events come as a stream here.
  expect(missing.map(({ noun, verb }) => `${noun}.${verb}`)).toEqual(['watch.read']);
  expect(new Set(HTTP_ROUTES.map(({ id }) => id)).size).toBe(HTTP_ROUTES.length);
});

test('the AsyncAPI document and every schema that it names are served', async () => {
  const text = await (await fetch(`${url}/asyncapi.json`)).text();
  expect(JSON.parse(text)).toMatchObject({ asyncapi: '3.0.0' });
  const names = new Set([...text.matchAll(/"\$ref":"\.\/(schemas\/[^"]+)"/g)].map(([, name = '']) => name));
  expect(names.size).toBeGreaterThan(40);
  for (const name of names) {
    const schema = await fetch(`${url}/${name}`);
    expect([name, schema.status]).toEqual([name, 200]);
    expect(await schema.json()).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  }
  expect((await fetch(`${url}/schemas/task.nothing.v1.json`)).status).toBe(404);
});

async function submit(workflow: string, given: Scripts = {}): Promise<string> {
  const { status, body } = await api.call('submitTask', { body: { workflow, input: scripts(given) } });
  expect(status).toBe(202);
  return body['taskId'] ?? '';
}

const reach = (taskId: string, state: string) =>
  waitFor(`${taskId} ${state}`, async () => {
    const { body } = await api.call('getTask', { params: { taskId } });
    return body['state'] === state && body;
  });

describe('every operation answers as the document says', () => {
  test('tasks: submit, list, look at, follow', async () => {
    const taskId = await submit('join-all', { a: { candidates: 1 } });
    await api.call('followTask', { params: { taskId } });
    await api.call('followTasks');
    await reach(taskId, 'completed');
    const { body: steps } = await api.call('getTaskSteps', { params: { taskId } });
    expect(steps).toMatchObject({
      steps: [
        { stepId: 'a', output: { text: 'xxxx' }, candidates: [expect.any(String)] },
        {},
        {},
        { after: ['a', 'b', 'c'] },
      ],
    });
    const { body: story } = await api.call('getTaskStory', { params: { taskId } });
    expect(story).toMatchObject({
      transitions: expect.arrayContaining([expect.objectContaining({ stepId: 'j', to: 'completed' })]),
      refusals: [],
      repairs: [],
    });
    const seen = await pages('listTasks', 'tasks');
    expect(seen).toContainEqual(expect.objectContaining({ taskId, state: 'completed' }));
    const again = await api.call('submitTask', { body: { workflow: 'noop', input: {}, key: 'once' } });
    expect([
      again.status,
      (await api.call('submitTask', { body: { workflow: 'noop', input: {} }, headers: { 'idempotency-key': 'once' } }))
        .status,
    ]).toEqual([202, 200]);
    await waitFor('the candidate', async () => {
      const { body } = await api.call('listCandidates', { query: { taskId } });
      return (body['candidates'] as unknown as unknown[]).length === 1;
    });
  });

  test('tasks: cancel, retry, fork; the same Idempotency-Key is the same change', async () => {
    const taskId = await submit('join-all', { a: { hang: true } });
    expect((await api.call('cancelTask', { params: { taskId }, body: { reason: 'a test' } })).body).toMatchObject({
      state: 'failed',
      changed: true,
    });
    expect((await api.call('cancelTask', { params: { taskId } })).body).toMatchObject({ changed: false });
    expect((await api.call('retryTask', { params: { taskId } })).body).toMatchObject({ state: 'pending' });
    const fork = { params: { taskId }, body: {}, headers: { 'idempotency-key': 'fork-1' } };
    const [first, second] = [await api.call('forkTask', fork), await api.call('forkTask', fork)];
    // It goes on meanwhile; it is the same one.
    expect(second.body['taskId']).toBe(first.body['taskId']);
    const other = await api.call('forkTask', { ...fork, headers: { 'idempotency-key': 'fork-2' } });
    expect(other.body['taskId']).not.toBe(first.body['taskId']);
  });

  test('tasks: approve, reject and edit at a gate', async () => {
    for (const [id, more] of [
      ['approveTask', {}],
      ['rejectTask', { reason: 'no' }],
      ['editTask', { result: { text: 'by hand' } }],
    ] as const) {
      const taskId = await submit('gated-result');
      const task = await reach(taskId, 'awaiting_validation');
      const gate = await waitFor(
        'the gate',
        async () => (await api.call('getTask', { params: { taskId } })).body['gate'] as { sha256: string } | undefined,
      );
      expect(task).toBeDefined();
      const wrong = await api.call(id, { params: { taskId }, body: { sha256: 'f'.repeat(64), ...more } });
      expect(wrong).toMatchObject({ status: 409, body: { code: 'GATE_MISMATCH' } });
      expect((await api.call(id, { params: { taskId }, body: { sha256: gate.sha256, ...more } })).status).toBe(200);
    }
  });

  test('dead letters', async () => {
    const refused = { code: 'MODEL_REFUSED', disposition: 'terminal' } as const;
    const ids = await Promise.all([1, 2].map(() => submit('join-all', { a: { failFirst: 9, failWith: refused } })));
    await Promise.all(ids.map((taskId) => reach(taskId, 'failed')));
    const letters = (await pages('listDeadLetters', 'letters', { status: 'open', needsHuman: 'false' })) as {
      letterId: string;
    }[];
    const [one = { letterId: '' }, two = { letterId: '' }] = letters;
    const shown = await api.call('getDeadLetter', { params: one });
    expect(shown.body).toMatchObject({ letterId: one.letterId, reason: 'MODEL_REFUSED', stepId: 'a' });
    expect((await api.call('replayDeadLetter', { params: one, body: { dryRun: true } })).body).toMatchObject({
      attempt: 2,
    });
    expect((await api.call('replayDeadLetter', { params: one })).body).toMatchObject({ attempt: 2 });
    expect((await api.call('discardDeadLetter', { params: two, body: { reason: 'a test' } })).body).toMatchObject({
      changed: true,
    });
    expect((await api.call('discardDeadLetter', { params: two })).status).toBe(422);
    expect((await api.call('getDeadLetter', { params: { letterId: 'acme/none' } })).status).toBe(404);
  });

  test('schedules', async () => {
    const body = { workflow: 'noop', input: {}, cron: '30 2 * * *', timeZone: 'Europe/Berlin' };
    for (const scheduleId of ['nightly', 'noon', 'weekly'])
      expect((await api.call('putSchedule', { params: { scheduleId }, body })).body).toMatchObject({
        scheduleId,
        changed: true,
      });
    expect(
      await api.call('putSchedule', { params: { scheduleId: 'x' }, body: { ...body, cron: 'never' } }),
    ).toMatchObject({ status: 422, body: { code: 'INVALID_INPUT' } });
    const params = { scheduleId: 'nightly' };
    expect((await api.call('pauseSchedule', { params })).body).toMatchObject({ changed: true, nextDueAt: null });
    expect((await api.call('resumeSchedule', { params })).body).toMatchObject({ changed: true });
    expect(await pages('listSchedules', 'schedules')).toMatchObject([{ scheduleId: 'nightly' }, {}, {}]);
    expect((await api.call('deleteSchedule', { params })).body).toMatchObject({ changed: true });
  });

  test('sessions', async () => {
    await p.sql(
      `INSERT INTO ledger.sessions (tenant_id, session_id, expires_at) SELECT 'acme', unnest($1::text[]), now() + interval '1 hour'`,
      [['chat-1', 'chat-2', 'chat-3']],
    );
    await p.sql(
      `INSERT INTO ledger.session_items (tenant_id, session_id, n, item_key, said_by, text, task_id) VALUES ('acme', 'chat-1', 1, 't/s/1', 'user', 'hello', 't')`,
    );
    const params = { sessionId: 'chat-1' };
    expect(await pages('listSessions', 'sessions')).toMatchObject([{ sessionId: 'chat-1', items: 1 }, {}, {}]);
    expect((await api.call('getSession', { params })).body).toMatchObject({ items: [{ text: 'hello', shown: true }] });
    expect((await api.call('resetSession', { params })).body).toEqual({ sessionId: 'chat-1', removed: 1 });
    expect((await api.call('getSession', { params })).status).toBe(404);
    expect((await api.call('getSession', { params: { sessionId: 'a.b' } })).status).toBe(400);
  });

  test('facts', async () => {
    const set = parsePolicySet(await readFile(join(checkoutRoot, 'infra/samples/policies-en.yaml'), 'utf8'));
    const { status, body } = await api.call('importFacts', { body: set });
    expect([status, body['revision']]).toEqual([200, expect.any(Number)]);
    const all = (await pages('listFacts', 'facts', { validAt: '2026-01-01' })) as { knowledgeId: string }[];
    expect(all.length).toBeGreaterThan(2);
    const params = { knowledgeId: 'hl-late-rate-max' };
    expect((await api.call('getFactImpact', { params, query: { version: '2' } })).body).toEqual({
      facts: [],
      tasks: [],
      more: false,
      answers: [],
      readers: [],
    });
    expect((await api.call('getFactImpact', { params, query: { version: '9' } })).status).toBe(404);
    expect((await api.call('getFactHistory', { params })).body).toMatchObject({
      versions: [{ version: 1 }, { version: 2 }, { version: 3 }],
    });
    expect(
      (await api.call('getFact', { params, query: { validAt: '2024-08-01', revision: String(body['revision']) } }))
        .body,
    ).toMatchObject({ fact: { version: 2 } });
    expect((await api.call('getFact', { params, query: { revision: '999999' } })).status).toBe(400);
    const said = await api.call('addFact', { body: { statement: 'The portal closes at noon.', tags: ['portal'] } });
    expect(said.body).toMatchObject({ outcome: 'accepted', version: 1 });
    const preview = await api.call('launderKnowledge', { body: { dryRun: true } });
    expect(preview.body).toMatchObject({ reportId: null, actions: [] });
    const ran = await api.call('launderKnowledge', { body: {} });
    expect((await api.call('listLaunderings', { query: { limit: '1' } })).body).toEqual({ reports: [ran.body] });
    expect((await api.call('unarchiveFact', { params, body: {} })).status).toBe(404);
    // As the laundering archives what faded; it takes sixty days.
    const { body: next } = await api.call('addFact', { body: { statement: 'The portal opens at nine.' } });
    const faded = [said.body['knowledgeId'], next['revision']];
    await p.sql(
      `UPDATE knowledge.fact_versions SET revisions = int8range(lower(revisions), $2) WHERE knowledge_id = $1`,
      faded,
    );
    await p.sql(
      `INSERT INTO knowledge.archived (tenant_id, knowledge_id, version, revisions) VALUES ('acme', $1, 1, int8range($2, NULL))`,
      faded,
    );
    const archived = { params: { knowledgeId: String(said.body['knowledgeId']) }, body: {} };
    expect((await api.call('unarchiveFact', archived)).body).toMatchObject({ versions: [2] });
    expect((await api.call('getFact', { params: { knowledgeId: 'none' } })).status).toBe(404);
  });

  test('knowledge that is asked for in words, taken back, disputed and decided', async () => {
    const found = await api.call('searchFacts', { body: { query: 'late payment rate', limit: 3 } });
    expect(found.body).toMatchObject({
      hits: expect.arrayContaining([expect.objectContaining({ score: expect.any(Number) })]),
    });
    const fact = (value: string) => ({
      knowledgeId: 'limit',
      subject: 'limit',
      predicate: 'is',
      unit: null,
      polarity: 'positive',
      modality: 'is',
      knowledgeType: 'rule',
      tags: [],
      periods: [{ value, statement: `The limit is ${value}.`, validFrom: null, validUntil: null }],
    });
    const say = (value: string, sourceType: string) =>
      api.call('importFacts', { body: { sourceRef: sourceType, sourceType, facts: [fact(value)] } });
    await say('30', 'human_confirmed');
    expect((await say('90', 'external_source')).body).toMatchObject({ outcomes: [{ outcome: 'disputed' }] });
    const { body } = await api.call('listDisputes', { query: { knowledgeId: 'limit' } });
    const [{ disputeId }] = body['disputes'] as unknown as [{ disputeId: number }];
    const decided = await api.call('resolveDispute', {
      params: { disputeId: String(disputeId) },
      body: { keep: 'incumbent', reason: 'a test' },
    });
    expect(decided.body).toMatchObject({ knowledgeId: 'limit', resolution: 'incumbent' });
    const retracted = await api.call('retractFact', { params: { knowledgeId: 'limit' }, body: { reason: 'a test' } });
    expect(retracted.body).toMatchObject({ closed: ['limit@1'] });
  });

  test('knowledge that people judge, take back by its source, have erased, and take out', async () => {
    await p.sql(
      `INSERT INTO knowledge.answers (tenant_id, task_id, answered_at, revision) VALUES ('acme', 'answered', now(), 1)`,
    );
    await p.sql(
      `INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
       VALUES ('acme', 'derived_from', 'answer', 'answered', 1, 'hl-late-rate-max', 3, '[1,)')`,
    );
    const params = { taskId: 'answered' };
    const said = await api.call('giveFeedback', { params, body: { verdict: 'wrong', by: 'maria', note: 'repealed' } });
    expect(said.body).toMatchObject({ counted: true, facts: [{ fact: 'hl-late-rate-max@3', weight: 0.8 }] });
    const { body } = await api.call('listReviews', { query: { knowledgeId: 'hl-late-rate-max' } });
    const [review] = body['reviews'] as unknown as [{ reviewId: number; wrong: number }];
    expect(review.wrong).toBe(1);
    const closing = { by: 'li', reason: 'still in force', restoreWeight: true };
    const closed = await api.call('closeReview', { params: { reviewId: String(review.reviewId) }, body: closing });
    expect(closed.body).toMatchObject({ fact: 'hl-late-rate-max@3', weight: 1 });
    const nothing = await api.call('retractSource', { body: { sourceRef: 'doc:none', reason: 'a test' } });
    expect(nothing.body).toMatchObject({ closed: [], facts: 0 });
    const knowledgeId = 'hl-liability-cap-max';
    const erase = { params: { knowledgeId }, body: { reason: 'a test', by: 'maria' } };
    const dry = await api.call('redactFact', { ...erase, body: { ...erase.body, dryRun: true } });
    expect(dry.body).toMatchObject({ redactionId: null });
    const { body: redacted } = await api.call('redactFact', erase);
    await waitFor('it is erased', async () => {
      const { body: page } = await api.call('listRedactions', { query: { knowledgeId } });
      const [last] = page['redactions'] as unknown as [{ redactionId: number; state: string }];
      expect(last.redactionId).toBe(redacted['redactionId']);
      return last.state === 'erased';
    });
    const history = await api.call('getFactHistory', { params: { knowledgeId } });
    expect(history.body).toMatchObject({ versions: [{ statement: '', redacted: { by: 'maria', reason: 'a test' } }] });
    await waitFor('a pair', async () => {
      const { body: page } = await api.call('listPairs', { query: { limit: '1' } });
      return (page['pairs'] as unknown as unknown[]).length === 1;
    });
  });

  test('and none was left out', () => {
    expect(api.operations.filter((id) => !api.exercised.has(id))).toEqual([]);
  });
});

/** All pages of a listing, two at a time; each thing once. */
async function pages(id: string, field: string, query: Record<string, string> = {}): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await api.call(id, {
      query: { ...query, limit: '2', ...(cursor === undefined ? {} : { cursor }) },
    });
    seen.push(...(body[field] as unknown as unknown[]));
    const next = body['next'] as unknown as string | null;
    if (next === null) break;
    expect(next).toMatch(/^[A-Za-z0-9_-]+$/);
    cursor = next;
  }
  expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(seen.length);
  return seen;
}
