import type { Client } from '@cleanslate/client';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

// Due times are moved into the past in the ledger instead of waiting for the clock; two schedulers look at all of them.

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'scheduler', 'gateway', 'knowledge-maintainer'],
  });
});
afterAll(() => p[Symbol.asyncDispose]());

const HOURLY = '0 * * * *';
const HOUR_MS = 3_600_000;
type Put = Parameters<Client['schedules']['put']>[0];

async function put(scheduleId: string, script: object, more: Partial<Put> = {}): Promise<void> {
  await p.client.schedules.put({ scheduleId, workflow: 'one-step', input: { script }, cron: HOURLY, ...more });
}

async function view(scheduleId: string) {
  const { schedules } = await p.client.schedules.list();
  const found = schedules.find((each) => each.scheduleId === scheduleId);
  if (found === undefined) throw new Error(`no schedule ${scheduleId}`);
  return found;
}

/** The top of the hour `hours` ago becomes the next due time. */
async function makeDue(scheduleId: string, hours = 0): Promise<void> {
  await p.sql(
    `UPDATE ledger.schedules SET next_due_at = date_trunc('hour', now()) - make_interval(hours => $2) WHERE schedule_id = $1`,
    [scheduleId, hours],
  );
}

type Run = { readonly task_id: string; readonly due: string; readonly state: string };

async function runsOf(scheduleId: string): Promise<readonly Run[]> {
  return await p.sql<Run>(
    `SELECT task_id, split_part(idempotency_key, ' ', 3) AS due, state FROM ledger.tasks WHERE idempotency_key LIKE 'schedule ' || $1 || ' %' ORDER BY due`,
    [scheduleId],
  );
}

async function decided(scheduleId: string): Promise<void> {
  await waitFor(`${scheduleId} decided`, async () => {
    const { nextDueAt } = await view(scheduleId);
    return nextDueAt !== null && Date.parse(nextDueAt) > Date.now();
  });
}

describe('a due time', () => {
  test('runs once however many schedulers look, also when the schedule is deleted and put again', async () => {
    await put('once', {});
    await makeDue('once');
    await decided('once');
    const [run] = await runsOf('once');
    expect((await p.client.result(run?.task_id ?? '')).state).toBe('completed');
    expect(await view('once')).toMatchObject({ runs: 1, skipped: 0, lastTaskId: run?.task_id, lastError: null });
    await p.client.schedules.delete('once');
    await put('once', {});
    await makeDue('once');
    await decided('once');
    expect(await runsOf('once')).toHaveLength(1);
    expect(p.deeds(run?.task_id).filter((deed) => deed.what === 'effect')).toHaveLength(1);
  });

  test('is kept while the run can not be accepted, and told', async () => {
    await put('kept', {});
    await p.sql(`UPDATE ledger.schedules SET workflow = 'gone' WHERE schedule_id = 'kept'`);
    await makeDue('kept');
    await waitFor('the fault', async () => (await view('kept')).lastError?.code === 'UNKNOWN_WORKFLOW');
    await p.sql(`UPDATE ledger.schedules SET workflow = 'one-step', retry_at = NULL WHERE schedule_id = 'kept'`);
    await decided('kept');
    expect(await runsOf('kept')).toHaveLength(1);
    expect(await view('kept')).toMatchObject({ runs: 1, lastError: null });
  });

  test('is tried again before it counts as missed; where missed ones are skipped then, it is still told why', async () => {
    await put('told', {});
    await p.sql(`UPDATE ledger.schedules SET workflow = 'gone' WHERE schedule_id = 'told'`);
    await makeDue('told', 1);
    await waitFor('the fault', async () => (await view('told')).lastError !== null);
    const [{ waits } = { waits: 0 }] = await p.sql<{ waits: number }>(
      `SELECT extract(epoch FROM retry_at - updated_at)::float8 * 1000 AS waits FROM ledger.schedules WHERE schedule_id = 'told'`,
    );
    // 30 s late is missed.
    expect(waits).toBeLessThan(15_000);
    await p.sql(`UPDATE ledger.schedules SET missed = 'skip', retry_at = NULL WHERE schedule_id = 'told'`);
    await decided('told');
    expect(await view('told')).toMatchObject({ runs: 0, lastError: { code: 'UNKNOWN_WORKFLOW' } });
  });
});

describe('a run that overlaps', () => {
  test('skip: is left out while the one before goes', async () => {
    await put('skip', { gate: 'skip' });
    await makeDue('skip', 1);
    await waitFor('the first run', async () => (await runsOf('skip')).length === 1);
    await decided('skip');
    await makeDue('skip');
    await decided('skip');
    expect(await runsOf('skip')).toHaveLength(1);
    expect((await view('skip')).skipped).toBeGreaterThanOrEqual(1);
    p.openGate('skip');
  });

  test('queue: starts when the one before has ended, in order', async () => {
    await put('queue', { gate: 'queue' }, { overlap: 'queue', missed: 'all', backlog: 2 });
    await makeDue('queue', 4);
    await decided('queue');
    expect(await view('queue')).toMatchObject({ runs: 1, waiting: 1, skipped: 3 });
    const [first] = await runsOf('queue');
    expect(await runsOf('queue')).toHaveLength(1);
    p.openGate('queue');
    await waitFor('the second run', async () => (await runsOf('queue')).length === 2);
    const [, second] = await runsOf('queue');
    expect(Date.parse(second?.due ?? '') - Date.parse(first?.due ?? '')).toBe(HOUR_MS);
    for (const run of [first, second]) expect((await p.client.result(run?.task_id ?? '')).state).toBe('completed');
    const [order] = await p.sql<{ ok: boolean }>(
      `SELECT (SELECT created_at FROM ledger.tasks WHERE task_id = $2) >= (SELECT updated_at FROM ledger.tasks WHERE task_id = $1) AS ok`,
      [first?.task_id, second?.task_id],
    );
    expect(order?.ok).toBe(true);
  });

  test('replace: the one before is cancelled in the transaction that starts the next', async () => {
    await put('replace', { gate: 'replace' }, { overlap: 'replace', cron: '0 0 1 1 *' });
    await p.sql(`UPDATE ledger.schedules SET next_due_at = date_trunc('year', now()) WHERE schedule_id = 'replace'`);
    await waitFor('the first run', async () => (await runsOf('replace')).length === 1);
    const [first] = await runsOf('replace');
    await p.deed(first?.task_id ?? '', 'start');
    await put('replace', { gate: 'replace' }, { overlap: 'replace' });
    await makeDue('replace');
    await waitFor('the second run', async () => (await runsOf('replace')).length === 2);
    expect((await p.client.task(first?.task_id ?? '')).error?.code).toBe('CANCELLED');
    p.openGate('replace');
    const { lastTaskId } = await view('replace');
    expect(lastTaskId).not.toBe(first?.task_id);
    expect((await p.client.result(lastTaskId ?? '')).state).toBe('completed');
  });
});

test('what was missed while all schedulers were down: none, one, or each, as the policy says', async () => {
  const policies = { 'missed-skip': 'skip', 'missed-once': 'once', 'missed-all': 'all' } as const;
  for (const [id, missed] of Object.entries(policies)) await put(id, {}, { missed, overlap: 'queue', backlog: 3 });
  const killed = p.platform.services.filter((each) => each.name === 'scheduler' && each.exit === undefined);
  await Promise.all(killed.map((each) => each.kill('SIGKILL')));
  expect(killed).toHaveLength(2);
  for (const id of Object.keys(policies)) await makeDue(id, 5);
  // The newest was missed too, unless the hour has just begun.
  await p.sql(`UPDATE ledger.schedules SET cron = '0 0 1 * *' WHERE schedule_id = 'missed-skip'`);
  await p.sql(
    `UPDATE ledger.schedules SET next_due_at = date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' WHERE schedule_id = 'missed-skip'`,
  );
  await Promise.all([p.platform.start('scheduler'), p.platform.start('scheduler')]);
  for (const id of Object.keys(policies)) await decided(id);
  await waitFor('all runs', async () => (await runsOf('missed-all')).length === 3);
  const states = async (id: string) => (await runsOf(id)).map((run) => run.state);
  await waitFor('all runs done', async () => (await states('missed-all')).every((state) => state === 'completed'));
  expect(await runsOf('missed-skip')).toHaveLength(0);
  expect(await runsOf('missed-once')).toHaveLength(1);
  expect(await view('missed-once')).toMatchObject({ runs: 1, skipped: 5 });
  expect(await view('missed-all')).toMatchObject({ runs: 3, skipped: 3, waiting: 0 });
});

test('pause and resume: nothing runs in between, nothing is made up for; another tenant sees and changes nothing', async () => {
  await put('paused', {});
  expect(await p.client.schedules.pause('paused')).toMatchObject({ changed: true, nextDueAt: null });
  expect(await p.client.schedules.pause('paused')).toMatchObject({ changed: false });
  await makeDue('paused', 3);
  await put('beacon', {});
  await makeDue('beacon');
  await decided('beacon');
  expect(await runsOf('paused')).toHaveLength(0);
  const globex = await p.platform.client('globex');
  expect((await globex.schedules.list()).schedules).toEqual([]);
  await expect(globex.schedules.resume('paused')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await globex.schedules.delete('paused')).toMatchObject({ changed: false });
  const { nextDueAt } = await p.client.schedules.resume('paused');
  expect(Date.parse(nextDueAt ?? '')).toBeGreaterThan(Date.now());
  expect(await runsOf('paused')).toHaveLength(0);
});

test('a rule, a zone, a workflow or an input that can not work is refused when it is put', async () => {
  await expect(put('bad', {}, { cron: 'every day' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await expect(put('bad', {}, { timeZone: 'Mars/Olympus' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await expect(put('bad', {}, { workflow: 'nothing' })).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
  await expect(put('bad', {}, { input: { other: 1 } })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await expectConserved(p.platform);
});
