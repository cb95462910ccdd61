import { listDeadLetters, listTasks, openDatabase, type Tx, withTransaction } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countRows, type PlanNode } from './plan-rows.ts';

// Listings as the gateway runs them (its role, its row-level security), for a tenant with 100,000 finished
// tasks and 20,000 ended letters.

const FINISHED = 100_000;
const ENDED = 20_000;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
  await database.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'flood', '{}')`);
  // Finished at once, which the ledger forbids: 100,000 tasks in five steps each would take minutes.
  await database.sql('ALTER TABLE ledger.tasks DISABLE TRIGGER USER');
  // The rare ones are the oldest: a listing that walks the tenant's tasks meets them last.
  await addTasks('rare', 'flood', 'failed', 3);
  await addTasks('other', 'single', 'completed', 3);
  await addTasks('flood', 'flood', 'completed', FINISHED);
  await database.sql('ALTER TABLE ledger.tasks ENABLE TRIGGER USER');
  await addLetters('open', 3);
  await addLetters('closed', ENDED);
  await database.sql('ANALYZE ledger.tasks, ledger.dead_letters');
}, 240_000);
afterAll(() => database[Symbol.asyncDispose]());

describe('what is rare is found without reading the rest', () => {
  test.each<[name: string, found: number, list: (tx: Tx) => Promise<readonly unknown[]>]>([
    ['tasks', 50, async (tx) => (await listTasks(tx, {})).tasks],
    ['tasks by a state that nearly all have', 50, async (tx) => (await listTasks(tx, { state: 'completed' })).tasks],
    ['tasks by state', 3, async (tx) => (await listTasks(tx, { state: 'failed' })).tasks],
    ['tasks by workflow', 3, async (tx) => (await listTasks(tx, { workflow: 'single' })).tasks],
    ['tasks by both', 3, async (tx) => (await listTasks(tx, { workflow: 'flood', state: 'failed' })).tasks],
    ['a state that no task has', 0, async (tx) => (await listTasks(tx, { state: 'executing' })).tasks],
    ['a page in the middle', 50, async (tx) => (await listTasks(tx, { before: await middle() })).tasks],
    ['open letters', 3, async (tx) => (await listDeadLetters(tx, { status: 'open' })).letters],
    ['letters of a task', 1, async (tx) => (await listDeadLetters(tx, { taskId: 'open-1' })).letters],
    ['letters', 50, async (tx) => (await listDeadLetters(tx, {})).letters],
  ])('%s', async (_name, found, list) => {
    await using opened = openDatabase({
      url: database.urlOf('cleanslate_gateway'),
      applicationName: 'test',
      poolSize: 1,
    });
    // More than five times on one connection, so that the plan made for any value is met as well.
    for (let time = 0; time < 7; time++) {
      const scope = { role: 'cleanslate_gateway', tenantId: 'acme', readOnly: true } as const;
      const { rows, listed } = await withTransaction(opened, scope, (tx) => explain(tx, list));
      expect(listed).toHaveLength(found);
      expect(rows).toBeLessThan(200);
    }
  });
});

/** What the listing found, and how many rows its query touched. */
async function explain(tx: Tx, list: (tx: Tx) => Promise<readonly unknown[]>) {
  let rows = Number.NaN;
  const explaining: Tx = {
    ...tx,
    query: async (text, values) => {
      const explained = await tx.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      const plan = explained.rows[0]?.['QUERY PLAN'][0]?.Plan;
      if (plan) rows = countRows(plan);
      return await tx.query(text, values);
    },
  };
  const listed = await list(explaining);
  return { rows, listed };
}

async function middle(): Promise<string> {
  const [row] = await database.sql<{ at: string; id: string }>(
    `SELECT created_at::text AS at, task_seq::text AS id FROM ledger.tasks WHERE task_id = 'flood-${FINISHED / 2}'`,
  );
  return `${row?.at}~${row?.id}`;
}

async function addTasks(name: string, workflow: string, state: string, count: number): Promise<void> {
  await database.sql(
    `INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
       pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     SELECT 'acme', $1 || '-' || n, '', '', $2, 'p', $3, 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000,
       clock_timestamp(), now()
     FROM generate_series(1, $4::int4) n`,
    [name, workflow, state, count],
  );
}

async function addLetters(status: string, count: number): Promise<void> {
  await database.sql(
    `INSERT INTO ledger.dead_letters (letter_id, tenant_id, task_id, step_id, attempt, headers, reason, error, history, status,
       first_failed_at, last_failed_at)
     SELECT $1 || n, 'acme', $1 || '-' || n, 'work', 1, '{}', 'terminal', '{}', '[]', $1, now(), clock_timestamp()
     FROM generate_series(1, $2::int4) n`,
    [status, count],
  );
}
