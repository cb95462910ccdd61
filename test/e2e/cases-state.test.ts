import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { adminOf, countMessages, expectConserved } from '../fixtures/conservation.ts';
import { countSuccesses, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { encodeReport } from '../fixtures/worker-messages.ts';

// Cases of group E of docs/failure-cases.md that need a whole platform.

const LEASE_MS = 5_000;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'scheduler', 'gateway', 'knowledge-maintainer'],
    env: { LEASE_MS: String(LEASE_MS) },
    workerEnv: { SLOTS: '8' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

const schedulers = () => p.platform.services.filter(({ name, exit }) => name === 'scheduler' && exit === undefined);
const effects = (taskId: string) => p.deeds(taskId).filter(({ what }) => what === 'effect');

test('E4: the same task id and key of two tenants are two tasks; one can’t see the other’s', async () => {
  const globex = await p.platform.client('globex');
  const request = (bytes: number) => ({
    workflow: 'one-step',
    input: { script: { bytes } },
    taskId: 'same',
    key: 'same',
  });
  const [ours, theirs] = await Promise.all([p.client.submit(request(3)), globex.submit(request(5))]);
  expect([ours, theirs]).toMatchObject([{ duplicate: false }, { duplicate: false }]);
  expect(await p.client.result('same')).toMatchObject({ state: 'completed', result: { text: 'xxx' } });
  expect(await globex.result('same')).toMatchObject({ state: 'completed', result: { text: 'xxxxx' } });
  const own = await p.submit('one-step', {});
  await expect(globex.task(own)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('E13: one completion told ten times at once, to two schedulers, counts once; that of an attempt given up is refused and recorded', async () => {
  expect(schedulers()).toHaveLength(2);
  const taskId = await p.submit('one-step', { hang: true });
  await p.deed(taskId, 'start');
  const worker = await p.platform.broker.connect({ kind: 'worker', role: 'analyzer' });
  const tell = async (nth: number) => {
    const [step] = await stepsOf(p.platform, taskId);
    const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'work', attempt: 1, claimId: step?.claim_id ?? '' };
    const output = { text: 'told', round: 1, feedback: null };
    const report = { outcome: 'succeeded' as const, output, usage: { durationMs: 1 }, candidates: [] };
    // Under ids of their own: the broker's dedupe must not be what saves us.
    worker.publish(`rpt.analyzer.acme.${taskId}`, encodeReport(fence, report), {
      'Nats-Msg-Id': `e13-${taskId}-${nth}`,
    });
  };
  await Promise.all(Array.from({ length: 10 }, (_, nth) => tell(nth)));
  await worker.flush();
  expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', result: { text: 'told' } });
  await waitFor('all of them taken', async () => (await countMessages(p.platform, 'REPORTS')) === 0);
  expect(await countSuccesses(p.platform)).toEqual([1]);

  const late = await p.submit('one-step', { hang: true });
  await p.deed(late, 'start');
  const [step] = await stepsOf(p.platform, late);
  await p.client.cancel(late);
  const fence = { epoch: 1, tenantId: 'acme', taskId: late, stepId: 'work', attempt: 1, claimId: step?.claim_id ?? '' };
  const body = encodeReport(fence, {
    outcome: 'succeeded',
    output: { text: 'late', round: 1, feedback: null },
    usage: { durationMs: 1 },
    candidates: [],
  });
  worker.publish(`rpt.analyzer.acme.${late}`, body);
  await worker.close();
  await waitFor('it is on record', async () => {
    const rows = await p.sql(`SELECT FROM ledger.refusals WHERE task_id = $1 AND code = 'STALE_ATTEMPT'`, [late]);
    return rows.length === 1;
  });
  expect(await p.client.task(late)).toMatchObject({ state: 'failed', error: { code: 'CANCELLED' } });
});

test('E15: a step that works on for three leases is left alone: silence is what ends a claim', async () => {
  const taskId = await p.submit('one-step', { sleepMs: 3 * LEASE_MS });
  expect((await p.client.result(taskId)).state).toBe('completed');
  expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 1, spent: 0 }]);
  expect(effects(taskId)).toHaveLength(1);
});

test('E15: work that is done and whose report got lost is told again, not done again', async () => {
  const taskId = await p.submit('one-step', { gate: 'e15', unfenced: true });
  await p.deed(taskId, 'start');
  await Promise.all(schedulers().map((scheduler) => scheduler.kill('SIGKILL')));
  p.openGate('e15');
  await waitFor('its report stored', async () => (await countMessages(p.platform, 'REPORTS')) === 1);
  await (await adminOf(p.platform)).raw.request('$JS.API.STREAM.PURGE.REPORTS', '', { timeout: 30_000 });
  // Longer than the lease: what nobody could hear is nobody's silence.
  await sleep(2 * LEASE_MS);
  expect(await countMessages(p.platform, 'REPORTS')).toBe(0);
  await Promise.all([p.platform.start('scheduler'), p.platform.start('scheduler')]);
  expect((await p.client.result(taskId)).state).toBe('completed');
  expect(await stepsOf(p.platform, taskId)).toMatchObject([{ attempt: 1, spent: 0 }]);
  expect(effects(taskId)).toHaveLength(1);
});

test('E12: the scheduler killed at any moment of a task leaves no state without its message, and none twice', async () => {
  for (const scheduler of schedulers().slice(1)) await scheduler.stop();
  const tasks: string[] = [];
  for (let round = 0; round < 8; round++) {
    const submitted = Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        p.client.submit({ workflow: 'four-steps', input: { script: {} }, key: `e12-${round}-${n}` }),
      ),
    );
    // Each round in another moment of the submits, claims, reports and ends of this and the last one.
    await sleep(9 * round);
    const [victim] = schedulers();
    await victim?.kill('SIGKILL');
    expect(victim?.exit).toMatchObject({ signal: 'SIGKILL' });
    await p.platform.start('scheduler');
    tasks.push(...(await submitted).map(({ taskId }) => taskId));
  }
  for (const taskId of tasks) expect((await p.client.result(taskId)).state).toBe('completed');
  const ends = await p.sql<{ n: number }>(
    `SELECT count(*)::int4 AS n FROM ledger.events WHERE task_id = ANY($1) AND envelope->>'type' = 'task.transitioned.v1' AND envelope->'data'->>'to' = 'completed' GROUP BY task_id`,
    [tasks],
  );
  expect(ends.map(({ n }) => n)).toEqual(tasks.map(() => 1));
  expect(await countSuccesses(p.platform)).toEqual([1]);
  await expectConserved(p.platform);
});
