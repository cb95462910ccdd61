import { tick } from '@cleanslate/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// The database's clock is set back by an hour: every time that the ledger holds is an hour ahead of what was meant.

const HOUR_MS = 3_600_000;
const LEASE_MS = 15_000;
const RUNNING = `phase = 'executing', state = 'executing', claim_id = 'c'`;

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger({ poolSize: 1 });
  await ledger.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
});
afterAll(() => ledger[Symbol.asyncDispose]());

test('what is due moves with a clock that was set back, and no lease ends sooner than one that is given now', async () => {
  await tickAt(0);
  await addStep('lost-doorbell', HOUR_MS + 20_000);
  await addStep('waiting', HOUR_MS + 5_000, `phase = 'backing_off'`);
  await addStep('long-wait', 5 * HOUR_MS, `phase = 'backing_off'`);
  await addStep('dead-worker', HOUR_MS + 9_000, RUNNING);
  await addStep('just-claimed', 14_000, RUNNING);
  await ledger.sql(`INSERT INTO ledger.workers VALUES ('w-1', 'analyzer', 1, 1, now() + interval '1 hour')`);
  const before = await dueTimes();
  const gapMs = await tickAt(HOUR_MS);
  const after = await dueTimes();
  for (const step of ['lost-doorbell', 'waiting', 'long-wait'])
    expect((after[step] ?? 0) - (before[step] ?? 0), step).toBeCloseTo(gapMs, -1);
  const [{ at } = { at: 0 }] = await ledger.sql<{ at: number }>(
    'SELECT extract(epoch FROM at)::float8 * 1000 AS at FROM ledger.ticks',
  );
  expect(after['dead-worker']).toBeCloseTo(at + LEASE_MS, -1);
  expect(after['just-claimed']).toBe(before['just-claimed']);
  expect(await ledger.sql('SELECT FROM ledger.workers WHERE seen_at > now()')).toEqual([]);
});

test('two schedulers whose transactions crossed are no clock that was set back', async () => {
  const before = await dueTimes();
  expect(await tickAt(10_000)).toBe(0);
  expect(await dueTimes()).toEqual(before);
});

/** The last tick was written when the clock showed this much more than now. */
async function tickAt(aheadMs: number): Promise<number> {
  await ledger.sql(`UPDATE ledger.ticks SET at = now() + make_interval(secs => $1::float8 / 1000)`, [aheadMs]);
  return await ledger.commit((tx) => tick(tx, 3_000, LEASE_MS));
}

/** A task of one step, dispatched and due in so long; `set` changes it afterwards. */
async function addStep(stepId: string, dueInMs: number, set = ''): Promise<void> {
  await ledger.sql(
    `WITH added AS (
       INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
         pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       VALUES ('acme', $1, '', '', 'w', 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now()) RETURNING task_seq
     )
     INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, state, phase, round, attempt, spent, ring,
       silent_claims, beaten, applied, due_at, ready_at, failures, candidates)
     SELECT task_seq, $1, 0, 'acme', 'w', 1, $1, 'analyzer', 'x/y', '[]', 'pending', 'dispatched', 1, 1, 0, 1, 0, false, '[]',
       now() + make_interval(secs => $2::float8 / 1000), now(), '[]', '[]' FROM added`,
    [stepId, dueInMs],
  );
  if (set !== '') await ledger.sql(`UPDATE ledger.steps SET ${set} WHERE step_id = $1`, [stepId]);
}

/** When each step is due. Milliseconds. */
async function dueTimes(): Promise<Record<string, number>> {
  const rows = await ledger.sql<{ step_id: string; ms: number }>(
    'SELECT step_id, extract(epoch FROM due_at)::float8 * 1000 AS ms FROM ledger.steps',
  );
  return Object.fromEntries(rows.map(({ step_id, ms }) => [step_id, ms]));
}
