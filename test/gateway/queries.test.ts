import { readFile } from 'node:fs/promises';
import type { Client } from '@cleanslate/client';
import { AppError } from '@cleanslate/contracts';
import { eraseTenant, setTenantState } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, type GatewayPlatform, startWithGateway } from './platform.ts';

let world: GatewayPlatform;
let acme: Client;
let globex: Client;

beforeAll(async () => {
  world = await startWithGateway(['scheduler', 'gateway', 'knowledge-maintainer']);
  [acme, globex] = await Promise.all([world.platform.client('acme'), world.platform.client('globex')]);
});
afterAll(async () => {
  await world?.platform[Symbol.asyncDispose]();
});

async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const array: T[] = [];
  for await (const item of items) array.push(item);
  return array;
}

const missing = { code: 'NOT_FOUND' };

describe('tasks', () => {
  test('in pages, newest first, each once, by state and workflow; a tenant sees its own', async () => {
    for (let n = 0; n < 5; n++) await acme.submit({ workflow: 'noop', input: {}, key: `page-${n}` });
    const seen: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await acme.tasks({ limit: 2, ...(before && { before }) });
      seen.push(...page.tasks.map((task) => task.taskId));
      if (page.next === null) break;
      before = page.next;
    }
    const rows = await world.platform.database.sql<{ task_id: string }>(
      'SELECT task_id FROM ledger.tasks ORDER BY task_seq DESC',
    );
    expect(seen).toEqual(rows.map((row) => row.task_id));
    expect((await acme.tasks({ state: 'completed' })).tasks).toEqual([]);
    expect((await acme.tasks({ workflow: 'other' })).tasks).toEqual([]);
    expect((await globex.tasks()).tasks).toEqual([]);
    await expect(globex.task(seen[0] ?? '')).rejects.toMatchObject(missing);
  });

  test('cancel is answered truthfully, twice', async () => {
    const { taskId } = await acme.submit({ workflow: 'noop', input: {} });
    expect(await acme.cancel(taskId, 'not needed')).toMatchObject({ state: 'failed', changed: true });
    expect(await acme.cancel(taskId)).toMatchObject({ state: 'failed', changed: false });
    expect(await acme.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'CANCELLED' } });
    await expect(globex.cancel(taskId)).rejects.toMatchObject(missing);
  });
});

describe('watch', () => {
  test('ends with the task, also from a cursor behind its end; all tasks of the tenant and no other’s', async () => {
    const { taskId } = await acme.submit({ workflow: 'noop', input: {} });
    await globex.submit({ workflow: 'noop', input: {} });
    await acme.cancel(taskId);
    const items = await toArray(acme.watch({ taskId }));
    const events = items.filter((item) => item.kind === 'event');
    expect(events.map((item) => item.event.name)).toEqual(expect.arrayContaining(['accepted', 'task']));
    expect(events.at(-1)?.event).toMatchObject({ name: 'task', data: { to: 'failed' } });
    expect(await toArray(acme.watch({ taskId, after: events.at(-1)?.cursor }))).toEqual([]);
    const rest = await toArray(acme.watch({ taskId, after: events[0]?.cursor }));
    expect(rest.length).toBe(events.length - 1);
    await expect(toArray(acme.watch({ taskId: 'no-such-task' }))).rejects.toMatchObject(missing);

    const all: string[] = [];
    for await (const item of acme.watch({ signal: AbortSignal.timeout(60_000) })) {
      if (item.kind !== 'event') continue;
      all.push(item.envelope.tenantid);
      // Behind what the other tenant submitted.
      if (item.cursor.position === events.at(-1)?.cursor.position) break;
    }
    expect(new Set(all)).toEqual(new Set(['acme']));
  });
});

describe('facts', () => {
  beforeAll(async () => {
    const file = new URL('../../infra/samples/policies-en.yaml', import.meta.url);
    await acme.facts.import(parsePolicySet(await readFile(file)));
  });

  test('the version that holds at a valid time and revision; history keeps all; nothing of another tenant', async () => {
    const knowledgeId = 'hl-payment-term-max';
    const [then, now] = await Promise.all([
      acme.facts.get({ knowledgeId, validAt: '2024-06-01' }),
      acme.facts.get({ knowledgeId, validAt: '2026-01-01' }),
    ]);
    expect([then.fact.assertion?.value, now.fact.assertion?.value]).toEqual(['60', '30']);
    expect((await acme.facts.history(knowledgeId)).versions.map((version) => version.version)).toEqual([1, 2]);
    await expect(acme.facts.get({ knowledgeId, revision: 0 })).rejects.toMatchObject(missing);
    await expect(acme.facts.get({ knowledgeId, knownAt: '2020-01-01' })).rejects.toMatchObject(missing);
    await expect(acme.facts.get({ knowledgeId, revision: 999 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(acme.facts.get({ knowledgeId, revision: 1, knownAt: '2026-01-01' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    // More will be known by then: the answer could not be repeated.
    await expect(acme.facts.get({ knowledgeId, knownAt: '2090-01-01' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('knownAt'),
    });
    await expect(globex.facts.history(knowledgeId)).rejects.toMatchObject(missing);
    // Nobody is sent to look where there is nothing either.
    const message = expect.not.stringContaining('slate fact history');
    await expect(globex.facts.get({ knowledgeId })).rejects.toMatchObject({ ...missing, message });
    expect((await globex.facts.asOf()).facts).toEqual([]);
  });

  test('what is asked at a revision is answered the same after the fact was taken back', async () => {
    const knowledgeId = 'hl-late-rate-max';
    const { revision } = await acme.facts.get({ knowledgeId });
    const ask = async () => ({
      got: await acme.facts.get({ knowledgeId, revision, validAt: '2026-01-01' }),
      history: await acme.facts.history(knowledgeId, { revision }),
      listed: await acme.facts.asOf({ prefix: knowledgeId, revision, validAt: '2026-01-01' }),
      found: (await acme.facts.search({ query: 'late payment rate', revision, validAt: '2026-01-01' })).hits,
    });
    const before = await ask();
    expect(before.found.map(({ fact }) => fact.knowledgeId)).toContain(knowledgeId);
    await acme.facts.retract({ knowledgeId, from: '2090-01-01', reason: 'repealed' });
    expect(await ask()).toEqual(before);
    expect((await acme.facts.history(knowledgeId)).versions.some((view) => view.revisionUntil !== null)).toBe(true);
  });

  test('as-of in pages by id', async () => {
    const whole = await acme.facts.asOf();
    const pages: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await acme.facts.asOf({ limit: 3, ...(after && { after }) });
      pages.push(...page.facts.map((fact) => fact.knowledgeId));
      if (page.next === null) break;
      after = page.next;
    }
    expect(pages).toEqual(whole.facts.map((fact) => fact.knowledgeId));
    expect((await acme.facts.asOf({ prefix: 'hl-late' })).facts.map((fact) => fact.knowledgeId)).toEqual([
      'hl-late-rate-max',
      'hl-late-rate-min',
      'hl-late-rate-required',
    ]);
  });
});

describe('dead letters', () => {
  test('in pages and by filter, whole with bytes and story; a tenant sees its own', async () => {
    const { sql } = world.platform.database;
    for (let n = 1; n <= 3; n++) {
      await sql(
        `INSERT INTO ledger.dead_letters (letter_id, tenant_id, task_id, step_id, attempt, role, workflow, headers, body, reason, error, history, first_failed_at, last_failed_at)
         VALUES ($1, $2, 't1', 'analyze', $3::int, 'analyzer', 'noop', '{"A":["b"]}', '\\x00ff', 'EXECUTOR_FAILED',
                 '{"code":"EXECUTOR_FAILED","disposition":"terminal","message":"it broke"}',
                 '[{"at":"2026-01-01T00:00:00.000Z","attempt":1,"what":"failed","error":null}]', now(), now() + $3::int * interval '1 s')`,
        [`letter-${n}`, n === 3 ? 'globex' : 'acme', n],
      );
    }
    const first = await acme.deadLetters.list({ limit: 1 });
    expect(first.letters.map((letter) => letter.letterId)).toEqual(['letter-2']);
    const second = await acme.deadLetters.list({ limit: 5, ...(first.next && { before: first.next }) });
    expect(second).toMatchObject({
      letters: [{ letterId: 'letter-1', message: 'it broke', status: 'open' }],
      next: null,
    });
    expect((await acme.deadLetters.list({ role: 'validator' })).letters).toEqual([]);
    const letter = await acme.deadLetters.show('letter-1');
    expect(letter).toMatchObject({ body: 'AP8=', headers: { A: ['b'] }, history: [{ what: 'failed' }] });
    await expect(acme.deadLetters.show('letter-3')).rejects.toMatchObject(missing);
  });
});

test('impact: what rests on a version however far down, each once, nearest first; a circle ends; nothing of another tenant', async () => {
  const text = await readFile(new URL('../../infra/samples/policies-en.yaml', import.meta.url), 'utf8');
  await acme.facts.import(parsePolicySet(text));
  const edges = [
    ['hl-late-rate-min', 1, 'hl-late-rate-max', 2],
    ['hl-liability-cap-max', 1, 'hl-late-rate-min', 1],
    ['hl-late-rate-max', 2, 'hl-liability-cap-max', 1],
  ];
  for (const edge of edges)
    await world.platform.database.sql(
      `INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
       VALUES ('acme', 'derived_from', 'fact', $1, $2, $3, $4, '[1,)')`,
      edge,
    );
  expect(await acme.facts.impact('hl-late-rate-max', 2)).toEqual({
    facts: [
      { fact: 'hl-late-rate-min@1', restsOn: 'hl-late-rate-max@2', distance: 1, taskId: null, believed: true },
      { fact: 'hl-liability-cap-max@1', restsOn: 'hl-late-rate-min@1', distance: 2, taskId: null, believed: true },
      { fact: 'hl-late-rate-max@2', restsOn: 'hl-liability-cap-max@1', distance: 3, taskId: null, believed: true },
    ],
    tasks: [],
    more: false,
    answers: [],
    readers: [],
  });
  expect((await acme.facts.impact('hl-late-rate-max', 1)).facts).toEqual([]);
  await expect(globex.facts.impact('hl-late-rate-max')).rejects.toMatchObject(missing);
});

test('answers that rest on a fact: every one of them, however many there are, each once, nearest first', async () => {
  const { database } = world.platform;
  const many = 2_150;
  await acme.facts.add({ knowledgeId: 'widely-used', statement: 'Invoices are due within 30 days.' });
  await database.sql(
    `INSERT INTO knowledge.answers (tenant_id, task_id, answered_at, revision)
     SELECT 'acme', 'answer-' || n, now() - (n / 7) * interval '1 second', 1 FROM generate_series(1, $1) n`,
    [many],
  );
  await database.sql(
    `INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
     SELECT 'acme', 'derived_from', 'answer', 'answer-' || n, 1, 'widely-used', 1, '[1,)' FROM generate_series(1, $1) n`,
    [many],
  );
  const first = await acme.facts.impact('widely-used');
  expect([first.answers?.length, first.more]).toEqual([1_000, true]);
  const answers = await toArray(acme.facts.eachAnswer('widely-used', 1));
  expect(answers.slice(0, 1_000)).toEqual(first.answers);
  expect(new Set(answers.map(({ taskId }) => taskId)).size).toBe(many);
  const times = answers.map(({ answeredAt }) => answeredAt);
  expect(times).toEqual(times.toSorted());
  const url = `${world.url()}/v1/facts/widely-used/impact?answersAfter=no-such-task`;
  const lost = await fetch(url, { headers: bearer() });
  expect(lost.status).toBe(404);
  expect(await lost.text()).toContain('answersAfter');
});

// Last: it takes a tenant away.
test('a deleted tenant is soon not answered any more, by a gateway that has answered it before', async () => {
  const { adminUrl } = world.platform.database;
  for (const { taskId } of (await globex.tasks()).tasks) await globex.cancel(taskId);
  await setTenantState(adminUrl, 'globex', 'suspended');
  await eraseTenant(adminUrl, 'globex');
  const codeOf = (error: unknown) => (error instanceof AppError ? error.code : String(error));
  await waitFor('the tenant to be unknown', async () => {
    const answer = await globex.tasks().then(() => 'answered', codeOf);
    return answer === 'UNKNOWN_TENANT';
  });
  expect((await acme.tasks()).tasks.length).toBeGreaterThan(0);
});
