import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '@cleanslate/infra';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { expectStreamIsLedger } from '../fixtures/event-stream.ts';
import { countSuccesses } from '../fixtures/ledger-rows.ts';
import { startOwnPostgres } from '../fixtures/own-postgres.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const TASKS = 40;

const stack = new AsyncDisposableStack();
let postgres: PostgresServer;
let p: ScriptedPlatform;
beforeAll(async () => {
  postgres = await startOwnPostgres(stack);
  p = stack.use(await startScripted({ postgresAdminUrl: postgres.adminUrl, env: { LEASE_MS: '6000' } }));
});
afterAll(() => stack.disposeAsync());

describe('the database goes away under load', () => {
  test.each([
    ['is stopped and started', () => postgres.restart()],
    [
      'is killed, and started 2 s later',
      async () => {
        const { pid } = postgres;
        await postgres.kill();
        expect(() => process.kill(pid, 0)).toThrow('ESRCH');
        await expect(p.sql('SELECT 1')).rejects.toThrow();
        await sleep(2_000);
        await postgres.restart();
      },
    ],
    [
      'is frozen for 2 s',
      async () => {
        await postgres.suspend();
        await sleep(2_000);
        await postgres.resume();
      },
    ],
  ])('when it %s nothing is lost, nothing is done twice, and no attempt is spent', async (_, outage) => {
    const pids = p.platform.services.map((service) => service.pid);
    const tasks = await Promise.all(Array.from({ length: TASKS }, () => p.submit('four-steps', { sleepMs: 20 })));
    const done = () => p.deeds().filter(({ what, taskId }) => what === 'effect' && tasks.includes(taskId)).length;
    await waitFor('the first effects', () => done() >= 20);
    expect(done()).toBeLessThan(TASKS * 4);
    // A submit in the middle of it waits, and is accepted once.
    const late = p.submit('four-steps', {}, { key: `late-${pids.length}-${tasks[0]}` });
    await outage();
    const all = [...tasks, await late];
    await waitFor(
      'all tasks completed',
      async () => {
        const rows = await p.sql(`SELECT FROM ledger.tasks WHERE state = 'completed' AND task_id = ANY($1)`, [all]);
        return rows.length === all.length;
      },
      { timeoutMs: 90_000, everyMs: 100 },
    );
    expect(await p.sql('SELECT letter_id, reason FROM ledger.dead_letters')).toEqual([]);
    expect(await p.sql('SELECT step_id, attempt, spent, failures FROM ledger.steps WHERE spent > 0')).toEqual([]);
    expect(await countSuccesses(p.platform)).toEqual([1]);
    expect(p.platform.services.map(({ pid, exit }) => [pid, exit])).toEqual(pids.map((pid) => [pid, undefined]));
    await expectConserved(p.platform);
    await expectStreamIsLedger(p.platform);
  });
});
