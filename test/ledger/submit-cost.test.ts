import { createHash } from 'node:crypto';
import { defineWorkflow } from '@cleanslate/domain';
import {
  type Database,
  findKnownSubmits,
  loadForUpdate,
  openDatabase,
  PlanCache,
  type Tx,
  withTransaction,
} from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';

const TASKS = 2_000;
const { plan } = defineWorkflow({
  name: 'w',
  input: z.strictObject({}),
  steps: { work: { role: 'analyzer', executor: 'x/y', after: [], input: {} } },
  result: 'steps.work.output',
});

/**
 * Tasks in the ledger when a connection plans its statements: as the indexes grow, one after the other
 * seems dearer than the others.
 */
const MOMENTS = [0, 20, 60, 100, 150, 200, 300, 400, 600];

test('plans made of a new ledger find a task by its id and key, not by reading all tasks of its tenant', async () => {
  await using database = await createTestDatabase(inject('postgresAdminUrl'));
  await database.sql('VACUUM ANALYZE ledger.tasks');
  await database.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  await using stack = new AsyncDisposableStack();
  const looks: ReturnType<typeof lookingIn>[] = [];
  for (const [i, tasks] of MOMENTS.entries()) {
    await addTasks(database, MOMENTS[i - 1] ?? 0, tasks);
    const url = database.urlOf('cleanslate_scheduler');
    const look = lookingIn(
      stack.use(openDatabase({ url, applicationName: 'test', poolSize: 1, bitmapScans: false, planOnce: true })),
    );
    await look([9_999]);
    looks.push(look);
  }
  await addTasks(database, MOMENTS.at(-1) ?? 0, TASKS);
  for (const look of looks) {
    const { byId, byKey, rows } = await look([7, 1999]);
    expect(byId.sort()).toEqual([idOf(7), idOf(1999)].sort());
    expect(byKey.sort()).toEqual([idOf(7), idOf(1999)].sort());
    expect(rows).toBeLessThan(40);
  }
});

/** As clients make them: in no order. */
const idOf = (n: number) => createHash('sha256').update(`${n}`).digest('hex').slice(0, 36);

function lookingIn(opened: Database) {
  const plans = new PlanCache();
  plans.add('p', plan);
  return (numbers: readonly number[]) =>
    withTransaction(opened, { role: 'cleanslate_scheduler' }, async (tx) => {
      const submits = numbers.map((n) => ({ tenantId: 'acme', taskId: idOf(n), key: null }));
      const others = numbers.map((n) => ({ tenantId: 'acme', taskId: idOf(-n), key: `key-${n}` }));
      const byId = await findKnownSubmits(tx, submits);
      const byKey = await findKnownSubmits(tx, others);
      await loadForUpdate(tx, 1, submits, plans);
      return {
        byId: byId.map((task) => task.taskId),
        byKey: byKey.map((task) => task.taskId),
        rows: await countRows(tx),
      };
    });
}

async function addTasks(database: TestDatabase, from: number, to: number): Promise<void> {
  const ids = Array.from({ length: to - from }, (_, i) => `('${idOf(from + i + 1)}', 'key-${from + i + 1}')`);
  if (ids.length === 0) return;
  await database.sql(
    `INSERT INTO ledger.tasks (tenant_id, task_id, idempotency_key, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
       pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     SELECT 'acme', id, key, '', '', 'w', 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now() FROM (VALUES ${ids.join()}) v(id, key)`,
  );
}

/** Rows of tasks that this transaction has read. */
async function countRows(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ read: number }>(
    `SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int4 AS read FROM pg_stat_xact_user_tables WHERE schemaname = 'ledger' AND relname = 'tasks'`,
  );
  return rows[0]?.read ?? Number.NaN;
}
