import type { ServiceName } from '@cleanslate/testing';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { expectStreamIsLedger } from '../fixtures/event-stream.ts';
import { countSuccesses } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const SERVICES: readonly ServiceName[] = ['scheduler', 'gateway', 'knowledge-maintainer'];
const WORKERS = ['analyzer', 'validator'] as const;
/** Longer than the grace period: some of them are handed back at each restart. */
const STEP_MS = 900;
const GRACE_MS = 300;
const AHEAD = 24;
/**
 * From the hand-back to the next grant, with a free slot elsewhere or soon. Generous on a busy machine;
 * leases are 60 s and would show.
 */
const AT_ONCE_MS = 30_000;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    services: [...SERVICES, ...SERVICES],
    workers: [...WORKERS, ...WORKERS],
    env: { LEASE_MS: '60000', RING_CHECK_MS: '60000' },
    workerEnv: { SLOTS: '8', GRACE_MS: String(GRACE_MS) },
  });
}, 240_000);
afterAll(() => p[Symbol.asyncDispose]());

describe('a rolling restart of every service', () => {
  test('under load: no failure, no attempt spent, what is handed back goes on at once', async () => {
    const tasks: string[] = [];
    let restarting = true;
    const load = (async () => {
      while (restarting || tasks.length < AHEAD) {
        tasks.push(await p.submit('judged', { sleepMs: STEP_MS, candidates: 1 }, { judge: { sleepMs: 100 } }));
        await waitFor('room for more', async () => (await openTasks()) < AHEAD, { timeoutMs: 60_000 });
      }
    })();
    await waitFor('the load', () => p.deeds().filter(({ what }) => what === 'effect').length >= 8, {
      timeoutMs: 60_000,
    });
    for (const name of [...SERVICES, ...WORKERS]) {
      const replicas = p.platform.services.filter((service) => service.name === name && service.exit === undefined);
      expect(replicas).toHaveLength(2);
      for (const old of replicas) {
        expect(await old.stop(60_000)).toEqual({ code: 0, signal: null });
        await (name === 'analyzer' || name === 'validator' ? p.startWorker(name) : p.platform.start(name));
      }
    }
    restarting = false;
    await load;
    await waitFor('all tasks at their end', async () => (await openTasks()) === 0, { timeoutMs: 60_000 });
    expect(await p.sql(`SELECT task_id, state, error FROM ledger.tasks WHERE state <> 'completed'`)).toEqual([]);
    expect(await p.sql('SELECT task_seq, step_id, attempt, spent FROM ledger.steps WHERE spent > 0')).toEqual([]);
    expect(await p.sql('SELECT letter_id, reason FROM ledger.dead_letters')).toEqual([]);
    expect(
      await p.sql(`SELECT trigger FROM ledger.transitions WHERE trigger IN ('lease_expired', 'silent_claim')`),
    ).toEqual([]);
    expect(await countSuccesses(p.platform)).toEqual([1]);
    const handedBack = await p.sql<{ ms: number }>(
      `SELECT (extract(epoch FROM min(g.at) - r.at) * 1000)::int4 AS ms
       FROM ledger.transitions r JOIN ledger.transitions g ON g.task_seq = r.task_seq AND g.step_id = r.step_id AND g.trigger = 'claim_granted' AND g.transition_id > r.transition_id
       WHERE r.trigger = 'released' GROUP BY r.transition_id, r.at`,
    );
    expect(handedBack.length).toBeGreaterThan(0);
    expect(Math.max(...handedBack.map(({ ms }) => ms))).toBeLessThan(AT_ONCE_MS);
    await expectConserved(p.platform);
    await expectStreamIsLedger(p.platform);
  }, 240_000);
});

async function openTasks(): Promise<number> {
  return (await p.sql(`SELECT FROM ledger.tasks WHERE state NOT IN ('completed', 'failed')`)).length;
}
