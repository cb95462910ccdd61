import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { countSuccesses } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const AHEAD = 30;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    env: { LEASE_MS: '10000', RING_CHECK_MS: '10000' },
    workerEnv: { SLOTS: '4', GRACE_MS: '2000' },
  });
}, 240_000);
afterAll(() => p[Symbol.asyncDispose]());

test('F11: `kubectl scale` from 1 to 4 to 1 under load, on one shared consumer: each takes its part, nothing is lost, twice or spent', async () => {
  const tasks: string[] = [];
  let loading = true;
  const load = (async () => {
    while (loading) {
      tasks.push(await p.submit('four-steps', { sleepMs: 60 }));
      await waitFor('room for more', async () => (await countOpen()) < AHEAD, { timeoutMs: 60_000 });
    }
  })();
  const [first] = running();
  await effectsOf([first?.pid ?? 0]);
  const joined = await Promise.all([p.startWorker(), p.startWorker(), p.startWorker()]);
  // Old and new overlap until each of them has done some of the work.
  await effectsOf(joined.map(({ pid }) => pid));
  const before = tasks.length;
  const leaving = running().slice(0, 3);
  expect(await Promise.all(leaving.map((service) => service.stop(60_000)))).toEqual(
    leaving.map(() => ({ code: 0, signal: null })),
  );
  await waitFor('load on the last one', () => tasks.length >= before + 10, { timeoutMs: 60_000 });
  loading = false;
  await load;
  await waitFor('all tasks at their end', async () => (await countOpen()) === 0, { timeoutMs: 60_000 });
  expect(running()).toHaveLength(1);
  expect(await p.sql(`SELECT task_id, error FROM ledger.tasks WHERE state <> 'completed'`)).toEqual([]);
  expect(await p.sql('SELECT step_id, attempt FROM ledger.steps WHERE spent > 0')).toEqual([]);
  expect(await p.sql('SELECT letter_id, reason FROM ledger.dead_letters')).toEqual([]);
  expect(await countSuccesses(p.platform)).toEqual([1]);
  const effects = p.deeds().filter(({ what }) => what === 'effect');
  expect(new Set(effects.map(({ key }) => key)).size).toBe(tasks.length * 4);
  expect(effects).toHaveLength(tasks.length * 4);
  await expectConserved(p.platform);
}, 240_000);

const running = () => p.platform.services.filter(({ name, exit }) => name === 'analyzer' && exit === undefined);

async function countOpen(): Promise<number> {
  return (await p.sql(`SELECT FROM ledger.tasks WHERE state NOT IN ('completed', 'failed')`)).length;
}

async function effectsOf(pids: readonly number[]): Promise<void> {
  const done = (pid: number) => p.deeds().filter((deed) => deed.what === 'effect' && deed.pid === pid).length;
  await waitFor('each has done something', () => pids.every((pid) => done(pid) >= 3), { timeoutMs: 60_000 });
}
