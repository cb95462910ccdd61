import { callEndpoint } from '@cleanslate/bus';
import { DeadLetterReplay, type Endpoint, type RequestOf, TaskFork, TaskRetry } from '@cleanslate/contracts';
import { setTenantState } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(() => p?.[Symbol.asyncDispose]());

const switchTo = (state: 'active' | 'suspended') => setTenantState(p.platform.database.adminUrl, 'acme', state);
beforeEach(() => switchTo('active'));
const refusal = expect.objectContaining({ code: 'TENANT_SUSPENDED', disposition: 'pause' });

test('what runs goes on to its end, and can be cancelled', async () => {
  const running = await p.submit('four-steps', { gate: 'go-on' });
  const doomed = await p.submit('one-step', { hang: true });
  await p.deed(running, 'start');
  await p.deed(doomed, 'start');
  await switchTo('suspended');
  p.openGate('go-on');
  expect((await p.client.result(running)).state).toBe('completed');
  expect((await p.client.cancel(doomed)).changed).toBe(true);
});

test('nothing new starts: no submit, retry, fork or replay', async () => {
  const failed = await p.submit('one-attempt', { failFirst: 1 });
  expect((await p.client.result(failed)).state).toBe('failed');
  const letter = await waitFor(
    'its letter',
    async () => (await p.client.deadLetters.list({ taskId: failed })).letters[0],
  );
  await switchTo('suspended');
  await expect(p.submit('one-step', {})).rejects.toEqual(refusal);
  await expect(p.client.retry(failed)).rejects.toEqual(refusal);
  await expect(p.client.fork(failed)).rejects.toEqual(refusal);
  await expect(p.client.deadLetters.replay(letter.letterId)).rejects.toEqual(refusal);
  await switchTo('active');
  await p.client.deadLetters.replay(letter.letterId);
  expect((await p.client.result(failed)).state).toBe('completed');
});

test('what was accepted before is answered the same when it is said again: a submit by its key, a retry, a fork and a replay by their ids', async () => {
  const failed = async () => {
    const taskId = await p.submit('one-attempt', { failFirst: 1 });
    expect((await p.client.result(taskId)).state).toBe('failed');
    return taskId;
  };
  const [retried, replayed] = [await failed(), await failed()];
  const letter = await waitFor(
    'its letter',
    async () => (await p.client.deadLetters.list({ taskId: replayed })).letters[0],
  );
  const bus = await p.platform.broker.connect({ kind: 'gateway' });
  const ask = <E extends Endpoint>(endpoint: E, data: RequestOf<E>) =>
    callEndpoint(bus, endpoint, 'acme', data, { source: '/tenants/acme/test', requestId: `once ${endpoint.verb}` });
  const once = async () => ({
    submit: (await p.client.submit({ workflow: 'one-step', input: { script: {} }, key: 'once' })).taskId,
    fork: (await ask(TaskFork, { taskId: retried })).taskId,
    retry: (await ask(TaskRetry, { taskId: retried })).taskId,
    replay: await ask(DeadLetterReplay, { letterId: letter.letterId }),
  });
  const first = await once();
  await switchTo('suspended');
  expect(await once()).toEqual(first);
});

test('a schedule that comes due waits until the tenant is back', async () => {
  const schedule = { scheduleId: 'hourly', workflow: 'one-step', input: { script: {} }, cron: '0 * * * *' };
  await p.client.schedules.put({ ...schedule, missed: 'once' });
  const runs = async () => (await p.client.schedules.list()).schedules[0]?.runs;
  await switchTo('suspended');
  await p.sql(`UPDATE ledger.schedules SET next_due_at = date_trunc('hour', now())`);
  // Longer than the pause between two looks at schedules.
  await p.sql('SELECT pg_sleep(1.5)');
  expect(await runs()).toBe(0);
  await switchTo('active');
  await waitFor('the run', async () => (await runs()) === 1);
});
