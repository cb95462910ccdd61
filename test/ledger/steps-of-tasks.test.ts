import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// A step belongs to a task, whoever writes it; and goes with it.

let ledger: LedgerDatabase;
let tasks: readonly number[];
beforeAll(async () => {
  ledger = await openLedger({ poolSize: 1, bitmapScans: false, planOnce: true });
  await ledger.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  const rows = await ledger.sql<{ seq: number }>(
    `INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     SELECT 'acme', n, 'h', 's', 'w', 'p', 'pending', 1, 1, 1, '{}', now(), 0, now(), 1, now(), now() FROM generate_series(1, 3) n RETURNING task_seq::int4 AS seq`,
  );
  tasks = rows.map(({ seq }) => seq);
});
afterAll(() => ledger[Symbol.asyncDispose]());

const asScheduler = (text: string, values: readonly unknown[]) => ledger.commit((tx) => tx.query(text, values));
const addSteps = (step: string, seqs: readonly number[]) =>
  asScheduler(
    `INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, phase, round, attempt, spent, ring, silent_claims, beaten, applied, failures, candidates, state)
     SELECT seq, $1, 0, 'acme', 'w', 1, 's', 'analyzer', 'x', '[]', 'blocked', 1, 0, 0, 0, 0, false, '[]', '[]', '[]', 'pending' FROM unnest($2::int8[]) seq`,
    [step, seqs],
  );
const stepsLeft = async () =>
  (await ledger.sql<{ seq: number }>('SELECT task_seq::int4 AS seq FROM ledger.steps ORDER BY 1')).map(
    ({ seq }) => seq,
  );

test('a step of no task is refused, with all that its statement adds', async () => {
  await addSteps('first', tasks);
  await expect(addSteps('second', [...tasks, 999_999])).rejects.toMatchObject({ code: '23503' });
  expect(await stepsLeft()).toEqual(tasks);
});

test('a task that goes takes its steps along, and no others', async () => {
  await asScheduler('DELETE FROM ledger.tasks WHERE task_seq = ANY ($1)', [tasks.slice(0, 2)]);
  expect(await stepsLeft()).toEqual(tasks.slice(2));
  await ledger.sql('DELETE FROM ledger.tasks');
  expect(await stepsLeft()).toEqual([]);
});
