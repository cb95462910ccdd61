import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, expectConserved } from '../fixtures/conservation.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const TASKS = 100;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    env: { LEASE_MS: '5000' },
    workerEnv: { SLOTS: '16' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('the broker goes away under load', () => {
  test('frozen for 6 s: 100 tasks of four steps complete exactly once, no attempt spent, no dead letter', async () => {
    const tasks = await underWay();
    const pids = p.platform.services.map((service) => service.pid);
    await p.platform.broker.server.suspend();
    await expect(p.client.task(tasks[0] ?? '')).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    // The outage itself is what is tested: its length is no wait for anything.
    await sleep(6_000);
    await p.platform.broker.server.resume();
    await completeOnce(tasks);
    expect(p.platform.services.map(({ pid, exit }) => [pid, exit])).toEqual(pids.map((pid) => [pid, undefined]));
  });

  test('kill -9 and a restart over the same store 10 s later: the same', async () => {
    const tasks = await underWay();
    const { server } = p.platform.broker;
    const { pid } = server;
    await server.kill();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await sleep(10_000);
    await server.restart();
    expect(server.pid).not.toBe(pid);
    await completeOnce(tasks);
  });
});

test('doorbells purged before anybody heard them are rung again, as the same attempt', async () => {
  await p.platform.service('analyzer').stop();
  const taskId = await p.submit('one-step', {});
  await waitFor('its doorbell stored', async () => {
    const rows = await p.sql(
      'SELECT FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND doorbell_seq IS NOT NULL',
      [taskId],
    );
    return rows.length > 0;
  });
  const { raw } = await adminOf(p.platform);
  expect((await raw.request('$JS.API.STREAM.PURGE.COMMANDS', '', { timeout: 30_000 })).json()).toMatchObject({
    success: true,
    purged: 1,
  });
  await p.startWorker();
  expect((await p.client.result(taskId)).state).toBe('completed');
  const steps = await p.sql(
    'SELECT attempt, spent, ring FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1',
    [taskId],
  );
  expect(steps).toEqual([{ attempt: 1, spent: 0, ring: 2 }]);
  await expectConserved(p.platform);
});

/** Submits the load; some of it is done and most of it is not when this returns. */
async function underWay(): Promise<readonly string[]> {
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => p.submit('four-steps', { sleepMs: 100 })));
  const open = await waitFor('the first effects', async () => {
    const rows = await p.sql<{ n: number }>(
      `SELECT count(*)::int4 AS n FROM ledger.tasks WHERE state NOT IN ('completed', 'failed') AND task_id = ANY($1)`,
      [tasks],
    );
    const effects = p.deeds().filter((deed) => deed.what === 'effect' && tasks.includes(deed.taskId)).length;
    return effects >= 20 && rows[0]?.n;
  });
  expect(open).toBeGreaterThan(TASKS / 2);
  return tasks;
}

async function completeOnce(tasks: readonly string[]): Promise<void> {
  await waitFor(
    'all tasks completed',
    async () => {
      const rows = await p.sql(`SELECT FROM ledger.tasks WHERE state = 'completed' AND task_id = ANY($1)`, [tasks]);
      return rows.length === TASKS;
    },
    { timeoutMs: 90_000, everyMs: 100 },
  );
  expect(await p.sql('SELECT letter_id, reason, error FROM ledger.dead_letters')).toEqual([]);
  expect(
    await p.sql(
      `SELECT task_id, step_id, attempt, spent, failures FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE spent > 0`,
    ),
  ).toEqual([]);
  const effects = p.deeds().filter((deed) => deed.what === 'effect' && tasks.includes(deed.taskId));
  expect(new Set(effects.map((deed) => deed.key)).size).toBe(TASKS * 4);
  expect(effects).toHaveLength(TASKS * 4);
  await expectConserved(p.platform);
}
