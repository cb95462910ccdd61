import { findReady, openDatabase, type Tx, takeRoom, withTransaction } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countRows, type PlanNode } from './plan-rows.ts';

// Admission's queries as the scheduler runs them (its role, its planner settings), over a ledger in which one tenant
// waits with 50,000 steps; as many are done, and as many back off.

const WAITING = 50_000;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
  await database.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'flood', '{}')`);
  await addSteps('acme', 'flood', 'ready', WAITING);
  await addSteps('acme', 'flood', 'failed', WAITING);
  await addSteps('globex', 'flood', 'backing_off', WAITING);
  await addSteps('acme', 'other', 'ready', 1);
  await addSteps('globex', 'single', 'ready', 1);
  await addSteps('acme', 'flood', 'dispatched', 20);
  await database.sql('ANALYZE ledger.steps');
});
afterAll(() => database[Symbol.asyncDispose]());

describe('with 50,000 ready steps of one tenant', () => {
  test('every line is found, and what is in flight', async () => {
    const room = await inScheduler((tx) => takeRoom(tx, [{ role: 'validator', tenantId: 'acme', workflow: 'flood' }]));
    const lines = room?.lines.map(({ role, tenantId, workflow, waits }) => `${role} ${tenantId} ${workflow} ${waits}`);
    expect(lines?.sort()).toEqual([
      'analyzer acme flood true',
      'analyzer acme other true',
      'analyzer globex single true',
      'validator acme flood false',
    ]);
    expect(room?.inFlight).toEqual([{ role: 'analyzer', tenantId: 'acme', workflow: 'flood', steps: 20 }]);
  });

  test('the heads of a line come in order', async () => {
    const lines = [
      { role: 'analyzer', tenantId: 'acme', workflow: 'flood' },
      { role: 'analyzer', tenantId: 'globex', workflow: 'single' },
    ];
    const steps = await inScheduler((tx) => findReady(tx, lines, 5));
    const waits = steps.filter((step) => step.tenantId === 'acme' && step.priority === 1).map((step) => step.readyAt);
    expect(waits).toHaveLength(5);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(steps.filter((step) => step.tenantId === 'globex')).toHaveLength(1);
  });

  test('the cost is that of the lines, not of what waits in them: no plan reads more than a handful of rows', async () => {
    const many = (await readRows()).filter(([, rows]) => !(rows < 300));
    expect(many).toEqual([]);
  });
});

/** Rows that each of the queries touched in its scans, by EXPLAIN ANALYZE. */
async function readRows(): Promise<readonly (readonly [string, number])[]> {
  const found: [string, number][] = [];
  await inScheduler(async (tx) => {
    const explaining: Tx = {
      ...tx,
      query: async (text, values) => {
        if (text.includes('advisory')) return await tx.query(text, values);
        const { rows } = await tx.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values,
        );
        const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
        found.push([text.trim().slice(0, 40), plan === undefined ? Number.NaN : countRows(plan)]);
        return await tx.query(text, values);
      },
    };
    const room = await takeRoom(explaining, []);
    await findReady(explaining, room?.lines ?? [], 20);
  });
  return found;
}

async function inScheduler<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  await using opened = openDatabase({ url: database.urlOf('cleanslate_scheduler'), applicationName: 'test' });
  return await withTransaction(opened, { role: 'cleanslate_scheduler' }, work);
}

async function addSteps(tenant: string, workflow: string, phase: string, count: number): Promise<void> {
  const state = phase === 'failed' ? 'failed' : 'pending';
  await database.sql(
    `WITH added AS (
       INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
         pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       SELECT $1, $2 || '-' || $3 || '-' || n, '', '', $2, 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now()
       FROM generate_series(1, $4::int4) n RETURNING task_seq, priority
     )
     INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, state, phase, round, attempt, spent, ring,
       silent_claims, beaten, applied, due_at, ready_at, failures, candidates)
     SELECT task_seq, 'work', 0, $1, $2, priority, 'work', 'analyzer', 'x/y', '[]', 'pending', $3, 1, 0, 0, 0, 0, false, '[]', now() + interval '1 minute',
       now() - random() * interval '1 hour', '[]', '[]' FROM added`,
    [tenant, workflow, phase, count],
  );
  if (state === 'failed') await database.sql(`UPDATE ledger.steps SET state = 'failed' WHERE phase = 'failed'`);
}
