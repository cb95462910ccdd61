import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countMessages, expectConserved } from '../fixtures/conservation.ts';
import { countSuccesses } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const LEASE_MS = 5_000;
const TASKS = 60;
const HOUR_MS = 3_600_000;
/** `OUTAGE_SECONDS=90` for the long form. */
const OUTAGE_MS = Number(process.env['OUTAGE_SECONDS'] ?? 5) * 1_000;
const PRELOAD = `--import ${new URL('../fixtures/odd-process.ts', import.meta.url).href}`;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: ['scheduler', 'scheduler', 'gateway', 'knowledge-maintainer'],
    workers: ['analyzer', 'analyzer'],
    env: { LEASE_MS: String(LEASE_MS) },
    workerEnv: { SLOTS: '8' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('nobody is to blame', () => {
  test('all schedulers are down for three leases under load: nothing spent, no second run, every report applied', async () => {
    const tasks = await Promise.all(
      Array.from({ length: TASKS }, () => p.submit('four-steps', { sleepMs: 60, unfenced: true })),
    );
    const held = await p.submit('one-step', { gate: 'schedulers', unfenced: true });
    await p.deed(held, 'start');
    await waitFor('a quarter of the work', () => effects(tasks).length >= TASKS);
    const schedulers = running('scheduler');
    expect(schedulers).toHaveLength(2);
    await Promise.all(schedulers.map((scheduler) => scheduler.kill('SIGKILL')));
    // One attempt ends, and its report waits, while nobody is there.
    p.openGate('schedulers');
    await p.deed(held, 'effect');
    // The outage itself is what is tested.
    await sleep(3 * LEASE_MS);
    expect(await countMessages(p.platform, 'REPORTS')).toBeGreaterThan(0);
    const [open] = await p.sql<{ n: number }>(
      `SELECT count(*)::int4 AS n FROM ledger.steps WHERE phase = 'executing' AND due_at < now()`,
    );
    expect(open?.n).toBeGreaterThan(0);
    await Promise.all([p.platform.start('scheduler'), p.platform.start('scheduler')]);
    await completeOnce([...tasks, held]);
    expect(effects(tasks)).toHaveLength(TASKS * 4);
    expect(effects([held])).toHaveLength(1);
  });

  test(
    'a model endpoint is away: workers stop trying for a while, nothing is spent, and all goes on when it is back',
    async () => {
      const opened: string[] = [];
      const stops = running('analyzer').map((worker) =>
        worker.onLine((line) => line.includes('a dependency is away') && opened.push(line)),
      );
      const failWith = { code: 'MODEL_UNAVAILABLE', disposition: 'pause' as const };
      const tasks = await Promise.all(
        Array.from({ length: 20 }, () => p.submit('one-step', { failUntil: 'model', failWith })),
      );
      await waitFor('the breakers open', () => opened.length >= 2);
      // The outage itself is what is tested.
      await sleep(OUTAGE_MS);
      for (const stop of stops) stop();
      const starts = p.deeds().filter(({ what, taskId }) => what === 'start' && tasks.includes(taskId)).length;
      expect(effects(tasks)).toEqual([]);
      p.openGate('model');
      await waitFor('all tasks completed', async () => (await completed(tasks)) === tasks.length, {
        timeoutMs: 60_000,
      });
      expect(effects(tasks)).toHaveLength(tasks.length);
      expect(await p.sql('SELECT step_id, spent FROM ledger.steps WHERE spent > 0')).toEqual([]);
      expect(await p.sql('SELECT letter_id FROM ledger.dead_letters')).toEqual([]);
      // Without a breaker each of the tasks would be tried every five seconds.
      if (OUTAGE_MS > 60_000) expect(starts).toBeLessThan((tasks.length * OUTAGE_MS) / 5_000 / 2);
      await expectConserved(p.platform);
    },
    120_000 + OUTAGE_MS,
  );

  test('clocks an hour ahead and an hour behind: no lease is stolen, whoever is off', async () => {
    const odd = (skewMs: number) => ({ NODE_OPTIONS: PRELOAD, SKEW_MS: String(skewMs) });
    for (const service of [...running('analyzer'), ...running('scheduler')]) await service.stop();
    const [scheduler] = await Promise.all([p.platform.start('scheduler', odd(HOUR_MS)), p.platform.start('scheduler')]);
    await Promise.all([p.startWorker('analyzer', odd(HOUR_MS)), p.startWorker('analyzer', odd(-HOUR_MS))]);
    const held = await Promise.all(Array.from({ length: 6 }, () => p.submit('one-step', { gate: 'skew' })));
    const tasks = await Promise.all(Array.from({ length: 20 }, () => p.submit('four-steps', { sleepMs: 30 })));
    await Promise.all(held.map((taskId) => p.deed(taskId, 'start')));
    const since = Date.now();
    await waitFor('two leases gone by', () => Date.now() - since > 2 * LEASE_MS);
    p.openGate('skew');
    await completeOnce([...held, ...tasks]);
    expect(effects(held)).toHaveLength(held.length);
    const offsets = new Set(
      p
        .deeds()
        .filter(({ taskId }) => tasks.includes(taskId))
        .map(({ at }) => Math.round((at - Date.now()) / HOUR_MS)),
    );
    expect([...offsets].sort()).toEqual([-1, 1]);
    const line = JSON.parse(scheduler.lastLines(200).findLast((text) => text.startsWith('{')) ?? '{}') as {
      time?: string | number;
    };
    expect(Math.round((new Date(line.time ?? 0).getTime() - Date.now()) / HOUR_MS)).toBe(1);
  });

  test('two workers with one name: each runs what it claimed, nothing twice', async () => {
    for (const service of running('analyzer')) await service.stop();
    const namesake = { NODE_OPTIONS: PRELOAD, NAMESAKE: '1' };
    const twins = await Promise.all([p.startWorker('analyzer', namesake), p.startWorker('analyzer', namesake)]);
    const tasks = await Promise.all(Array.from({ length: 40 }, () => p.submit('four-steps', { sleepMs: 40 })));
    await completeOnce(tasks);
    expect(effects(tasks)).toHaveLength(tasks.length * 4);
    expect(new Set(effects(tasks).map(({ pid }) => pid))).toEqual(new Set(twins.map(({ pid }) => pid)));
    const names = await p.sql(
      `SELECT DISTINCT worker FROM ledger.transitions JOIN ledger.tasks USING (task_seq) WHERE task_id = ANY($1) AND trigger = 'claim_granted'`,
      [tasks],
    );
    expect(names).toEqual([{ worker: 'analyzer-000000000000' }]);
  });
});

function running(name: string) {
  return p.platform.services.filter((service) => service.name === name && service.exit === undefined);
}

function effects(tasks: readonly string[]) {
  return p.deeds().filter((deed) => deed.what === 'effect' && tasks.includes(deed.taskId));
}

/**
 * Each step ran once, and nothing was spent. (A grant whose answer died with its scheduler may have become another
 * attempt before anything ran.)
 */
async function completeOnce(tasks: readonly string[]): Promise<void> {
  await waitFor('all tasks completed', async () => (await completed(tasks)) === tasks.length, {
    timeoutMs: 90_000,
    everyMs: 100,
  });
  expect(
    await p.sql(
      `SELECT task_id, step_id, attempt, spent, failures FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = ANY($1) AND spent > 0`,
      [tasks],
    ),
  ).toEqual([]);
  const starts = p.deeds().filter(({ what, taskId }) => what === 'start' && tasks.includes(taskId));
  expect(starts.length).toBe(new Set(starts.map(({ key }) => key)).size);
  expect(await countSuccesses(p.platform)).toEqual([1]);
  expect(await p.sql('SELECT letter_id FROM ledger.dead_letters')).toEqual([]);
  await expectConserved(p.platform);
}

async function completed(tasks: readonly string[]): Promise<number> {
  return (await p.sql(`SELECT FROM ledger.tasks WHERE state = 'completed' AND task_id = ANY($1)`, [tasks])).length;
}
