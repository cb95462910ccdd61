import { defineWorkflow, MACHINE_DEFAULTS } from '@cleanslate/domain';
import { PlanCache } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DoorbellRelay } from '../../services/scheduler/src/loops/doorbell-relay.ts';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// What is left of doorbells of processes that could not publish them, where some of it can't be published at all.

const { plan, planHash } = defineWorkflow({
  name: 'one-step',
  input: z.strictObject({}),
  steps: { a: { role: 'analyzer', executor: 'test/a', after: [], input: {} } },
  result: 'steps.a.output',
});

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger({ poolSize: 2 });
});
afterAll(() => ledger[Symbol.asyncDispose]());

test('more than a sweep builds at once that nobody can read hold up none behind them, and each is told of once', async () => {
  await ledger.sql(
    `INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('future', 'w', '{"from":"the future"}'), ($1, 'one-step', $2)`,
    [planHash, JSON.stringify(plan)],
  );
  await addLeft('future', 500, 60);
  await addLeft(planHash, 1, 10);
  let seq = 0;
  const errors: string[] = [];
  const publisher = {
    publish: async () => ({ stream: 'COMMANDS', seq: ++seq, duplicate: false }),
    send: () => undefined,
  };
  const relay = new DoorbellRelay({
    context: { database: ledger.database, plans: new PlanCache(), epoch: 1, options: MACHINE_DEFAULTS },
    publisher,
    isConnected: () => true,
    onUnsendable: async () => undefined,
    onError: (error) => errors.push(String(error)),
  });
  relay.start();
  try {
    await waitFor('the one that can be read', () => isNoted(1));
    expect(relay.left.count).toBe(500);
    expect(new Set(errors).size).toBe(500);
    expect(errors[0]).toMatch(/doorbell \d+\/a\/1\/1 /);
    // Behind them again: the sweep that finds it has been through them all.
    await addLeft(planHash, 1, 9);
    relay.wake();
    await waitFor('the next one', () => isNoted(2));
    expect(errors).toHaveLength(500);
  } finally {
    await relay.stop();
  }
});

test('steps that are claimed while a sweep is at them are not left', async () => {
  // One connection: the claim gets in between the two reads of the sweep.
  await using alone = await openLedger({ poolSize: 1 });
  await alone.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ($1, 'one-step', $2)`, [
    planHash,
    JSON.stringify(plan),
  ]);
  await addLeft(planHash, 20, 60, alone);
  let claimed: Promise<unknown> | undefined;
  const publish = vi.fn();
  const relay = new DoorbellRelay({
    context: { database: alone.database, plans: new PlanCache(), epoch: 1, options: MACHINE_DEFAULTS },
    publisher: { publish, send: () => undefined },
    isConnected: () => {
      claimed ??= alone.database.pool.query(
        `UPDATE ledger.steps SET phase = 'executing', state = 'executing', claim_id = 'c', worker = 'w'`,
      );
      return true;
    },
    onUnsendable: async () => undefined,
    onError: (error) => expect.unreachable(String(error)),
  });
  relay.start();
  await waitFor('the first sweep', async () => claimed !== undefined);
  await claimed;
  await relay.stop();
  expect(publish).not.toHaveBeenCalled();
  const later = performance.now() + 10_000;
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later);
  expect(relay.left.count).toBe(0);
  clock.mockRestore();
});

async function isNoted(seq: number): Promise<boolean> {
  const noted = await ledger.sql<{ plan_hash: string }>(
    'SELECT plan_hash FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE doorbell_seq = $1',
    [seq],
  );
  return noted.length === 1 && noted[0]?.plan_hash === planHash;
}

/** Dispatched so long ago, with no PubAck on record. */
async function addLeft(hash: string, count: number, agoSeconds: number, into = ledger): Promise<void> {
  await into.sql(
    `WITH added AS (
       INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
         pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       SELECT 'acme', gen_random_uuid()::text, '', '', 'w', $1, 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now()
       FROM generate_series(1, $2::int4) RETURNING task_seq
     )
     INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, state, phase, round, attempt, spent, ring,
       silent_claims, beaten, applied, due_at, ready_at, failures, candidates)
     SELECT task_seq, 'a', 0, 'acme', 'w', 1, 'a', 'analyzer', 'test/a', '[]', 'pending', 'dispatched', 1, 1, 0, 1, 0, false, '[]',
       now() + make_interval(secs => 30 - $3), now(), '[]', '[]' FROM added`,
    [hash, count, agoSeconds],
  );
}
