import type { Service } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countMessages, expectConserved, shortenAckWaits } from '../fixtures/conservation.ts';
import { countSuccesses, endBackOff, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const TASKS = 80;
const STEP_MS = 250;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    // An outage, or a machine that stalls, is no silence of workers: tests count attempts.
    env: { LEASE_MS: '15000' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('schedulers that fail', { timeout: 480_000 }, () => {
  test('killed between commit and publish: the command still goes out, once', async () => {
    const { server } = p.platform.broker;
    const taskId = await p.submit('slow-retry', { failFirst: 1 });
    await waitFor('the back-off', async () => (await stepsOf(p.platform, taskId))[0]?.phase === 'backing_off');
    // Killed, not frozen: what is written to a frozen broker's socket would still arrive.
    await server.kill();
    await endBackOff(p.platform, taskId);
    const committed = await waitFor('attempt 2 committed', async () => {
      const rows = await p.sql(
        `SELECT attempt, ring FROM ledger.steps WHERE phase = 'dispatched' AND doorbell_seq IS NULL AND attempt = 2`,
      );
      return rows.length > 0 && rows;
    });
    expect(committed).toEqual([{ attempt: 2, ring: 1 }]);
    const scheduler = p.platform.service('scheduler');
    await scheduler.kill('SIGKILL');
    expect(scheduler.exit).toMatchObject({ signal: 'SIGKILL' });
    await server.restart();
    expect(await waitFor('the broker', async () => [await countMessages(p.platform, 'COMMANDS')])).toEqual([0]);
    expect(await stepsOf(p.platform, taskId)).toMatchObject([{ phase: 'dispatched', attempt: 2, claim_id: null }]);

    await p.platform.start('scheduler');
    await waitFor('client and gateway reconnected', async () => (await p.client.task(taskId)).taskId === taskId);
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(p.deeds(taskId).map((deed) => [deed.what, deed.attempt])).toEqual([
      ['start', 1],
      ['start', 2],
      ['effect', 2],
    ]);
    expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 2, spent: 1 }]);
    await expectConserved(p.platform);
  });

  test('SIGTERM under load, a successor beside it: each drains and exits 0; nothing waits for a time-out, nothing is spent', async () => {
    const [scheduler, worker] = [p.platform.service('scheduler'), p.platform.service('analyzer')];
    // First, so that there is work left when they are up, however fast all else is.
    await Promise.all([p.platform.start('scheduler'), p.startWorker()]);
    const tasks = await submitLoad();
    await waitFor('a quarter of the work', () => effects(tasks).length >= TASKS);
    expect(await openTasks()).toBeGreaterThan(0);
    const exits = await Promise.all([scheduler.stop(60_000), worker.stop(60_000)]);
    expect(exits).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
    await allCompleted(tasks);
    expect(effects(tasks)).toHaveLength(TASKS * 4);
    const spent = await p.sql(
      'SELECT step_id, failures FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE spent > 0 AND task_id = ANY($1)',
      [tasks],
    );
    expect(spent).toEqual([]);
    await expectConserved(p.platform);
  });

  test('two schedulers and two workers under load, one of each killed: every step succeeds exactly once', async () => {
    const first = p.platform.service('scheduler');
    await shortenAckWaits(p.platform, 3_000);
    await Promise.all([p.platform.start('scheduler'), p.startWorker()]);
    const tasks = await submitLoad();
    await waitFor('a quarter of the work', () => effects(tasks).length >= TASKS);
    const worker = p.platform.service('analyzer');
    await Promise.all([first.kill('SIGKILL'), worker.kill('SIGKILL')]);
    expect([first.exit, worker.exit]).toMatchObject([{ signal: 'SIGKILL' }, { signal: 'SIGKILL' }]);
    expect(await openTasks()).toBeGreaterThan(TASKS / 4);
    await allCompleted(tasks);
    expect(await p.sql('SELECT letter_id FROM ledger.dead_letters')).toEqual([]);
    expect(await countSuccesses(p.platform)).toEqual([1]);
    expect(new Set(effects(tasks).map((deed) => deed.key)).size).toBe(TASKS * 4);
    await expectConserved(p.platform);
  });

  test('one of two frozen in the middle of a transaction: its locks are taken from it, the other goes on; thawed, it joins in again', async () => {
    const frozen = p.platform.service('scheduler');
    await shortenAckWaits(p.platform, 3_000);
    await p.platform.start('scheduler');
    const tasks = await freezeInTransaction(frozen);
    try {
      // However long that took: these have it all before them.
      tasks.push(...(await submitLoad()));
      await allCompleted(tasks);
    } finally {
      process.kill(frozen.pid, 'SIGCONT');
    }
    await Promise.all(
      p.platform.services.filter((one) => one.name === 'scheduler' && one !== frozen).map((one) => one.stop()),
    );
    const after = await p.submit('four-steps', {});
    expect((await p.client.result(after)).state).toBe('completed');
    expect(new Set(effects(tasks).map((deed) => deed.key)).size).toBe(tasks.length * 4);
    await expectConserved(p.platform);
  });

  test('a task whose plan nobody can read holds up no other: leases, back-offs and admission go on', async () => {
    const stuck = await p.submit('slow-retry', { failFirst: 1 });
    await waitFor('its back-off', async () => (await stepsOf(p.platform, stuck))[0]?.phase === 'backing_off');
    const [kept] = await p.sql<{ plan: unknown }>(
      `UPDATE ledger.plans p SET plan = '{"from":"the future"}' FROM ledger.plans old
       WHERE p.workflow = 'slow-retry' AND old.plan_hash = p.plan_hash RETURNING old.plan`,
    );
    for (const scheduler of p.platform.services.filter(({ name, exit }) => name === 'scheduler' && exit === undefined))
      await scheduler.stop();
    // Plans are kept in memory: this one has not read it yet.
    await p.platform.start('scheduler');
    await endBackOff(p.platform, stuck);
    const lost = await p.submit('four-steps', { gate: 'plan' });
    await p.deed(lost, 'start');
    const worker = p.platform.service('analyzer');
    await Promise.all(
      p.platform.services
        .filter(({ name, exit }) => name === 'analyzer' && exit === undefined)
        .map((one) => one.kill()),
    );
    expect(worker.exit).toMatchObject({ signal: 'SIGKILL' });
    await p.startWorker();
    p.openGate('plan');
    const failing = await p.submit('one-step', { failFirst: 2 });
    expect((await p.client.result(failing)).state).toBe('completed');
    expect((await p.client.result(lost)).state).toBe('completed');
    expect(await stepsOf(p.platform, stuck)).toMatchObject([{ phase: 'backing_off' }]);
    await p.sql(`UPDATE ledger.plans SET plan = $1 WHERE workflow = 'slow-retry'`, [JSON.stringify(kept?.plan)]);
    expect((await p.client.result(stuck)).state).toBe('completed');
    await expectConserved(p.platform);
  });

  test('the same key 20 times at once over two schedulers is one task; with another body a conflict', async () => {
    await p.platform.start('scheduler');
    const clients = await Promise.all(Array.from({ length: 4 }, () => p.platform.client()));
    const request = { workflow: 'one-step', input: { script: { sleepMs: 1 } }, key: 'order-1' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => clients)
        .flat()
        .map((client) => client.submit(request)),
    );
    expect(new Set(answers.map((answer) => answer?.taskId)).size).toBe(1);
    expect(answers.filter((answer) => answer?.duplicate === false)).toHaveLength(1);
    expect(await p.sql(`SELECT FROM ledger.tasks WHERE idempotency_key = 'order-1'`)).toHaveLength(1);
    const { taskId } = answers[0] ?? { taskId: '' };
    expect((await p.client.result(taskId)).state).toBe('completed');
    await expect(p.client.submit({ ...request, input: { script: { sleepMs: 2 } } })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    // The client's own id, used again for other work, is as much a conflict.
    await expect(p.client.submit({ workflow: 'one-step', input: { script: {} }, taskId })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    // Another tenant's key is another key.
    const globex = await p.platform.client('globex');
    expect((await globex.submit(request)).duplicate).toBe(false);
    expect(p.deeds(taskId).filter((deed) => deed.what === 'effect')).toHaveLength(1);
    await expectConserved(p.platform);
  });
});

/**
 * Stopped again and again under load, until it is with a transaction open: its locks are held then. Returns the load.
 */
async function freezeInTransaction(scheduler: Service): Promise<string[]> {
  const tasks: string[] = [];
  await waitFor(
    'a scheduler frozen in a transaction',
    async () => {
      if ((await openTasks()) < TASKS / 2) tasks.push(...(await submitLoad()));
      process.kill(scheduler.pid, 'SIGSTOP');
      // Nobody who runs leaves one idle for so long; what the others wait for is this one.
      const [row] = await p.sql<{ held: boolean }>(
        `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cleanslate-scheduler'
           AND state = 'idle in transaction' AND state_change < clock_timestamp() - interval '200 ms') AS held FROM pg_sleep(0.3)`,
      );
      if (row?.held !== true) process.kill(scheduler.pid, 'SIGCONT');
      return row?.held === true;
    },
    { timeoutMs: 90_000, everyMs: 10 },
  );
  return tasks;
}

/** Seconds of work: a test that looks late, on a busy machine, must still find some of it left. */
async function submitLoad(): Promise<string[]> {
  return await Promise.all(Array.from({ length: TASKS }, () => p.submit('four-steps', { sleepMs: STEP_MS })));
}

async function openTasks(): Promise<number> {
  return (await p.sql(`SELECT FROM ledger.tasks WHERE state NOT IN ('completed', 'failed')`)).length;
}

async function allCompleted(tasks: readonly string[]): Promise<void> {
  const check = async () => {
    const rows = await p.sql(`SELECT FROM ledger.tasks WHERE state = 'completed' AND task_id = ANY($1)`, [tasks]);
    return rows.length === tasks.length;
  };
  await waitFor('all tasks completed', check, { timeoutMs: 180_000, everyMs: 50 });
}

function effects(tasks: readonly string[]) {
  return p.deeds().filter((deed) => deed.what === 'effect' && tasks.includes(deed.taskId));
}
