import { defineWorkflow } from '@cleanslate/domain';
import { findKnownSubmits, loadForUpdate, openDatabase, PlanCache, type Tx, withTransaction } from '@cleanslate/store';
import { createTestDatabase } from '@cleanslate/testing';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';

const TASKS = 2_000;
const { plan } = defineWorkflow({
  name: 'w',
  input: z.strictObject({}),
  steps: { work: { role: 'analyzer', executor: 'x/y', after: [], input: {} } },
  result: 'steps.work.output',
});

test('plans made while the ledger was empty find a task by its key, not by reading all tasks of its tenant', async () => {
  await using database = await createTestDatabase(inject('postgresAdminUrl'));
  // One connection: each statement is planned once, before there are tasks.
  const url = database.urlOf('cleanslate_scheduler');
  await using opened = openDatabase({ url, applicationName: 'test', poolSize: 1, bitmapScans: false, planOnce: true });
  const plans = new PlanCache();
  plans.add('p', plan);
  const look = (ids: readonly string[]) =>
    withTransaction(opened, { role: 'cleanslate_scheduler' }, async (tx) => {
      const submits = ids.map((id) => ({ tenantId: 'acme', taskId: `task-${id}`, key: `key-${id}` }));
      const other = ids.map((id) => ({ tenantId: 'acme', taskId: `other-${id}`, key: `key-${id}` }));
      const byId = await findKnownSubmits(tx, submits);
      const byKey = await findKnownSubmits(tx, other);
      await loadForUpdate(tx, 1, submits, plans);
      return {
        byId: byId.map((task) => task.taskId),
        byKey: byKey.map((task) => task.taskId),
        rows: await countRows(tx),
      };
    });
  expect(await look(['1'])).toEqual({ byId: [], byKey: [], rows: 0 });
  await database.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  await database.sql(
    `INSERT INTO ledger.tasks (tenant_id, task_id, idempotency_key, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
       pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     SELECT 'acme', 'task-' || n, 'key-' || n, '', '', 'w', 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now() FROM generate_series(1, ${TASKS}) n`,
  );
  const { byId, byKey, rows } = await look(['7', '1999']);
  expect(byId.sort()).toEqual(['task-1999', 'task-7']);
  expect(byKey.sort()).toEqual(['task-1999', 'task-7']);
  expect(rows).toBeLessThan(40);
});

/** Rows of tasks that this transaction has read. */
async function countRows(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ read: number }>(
    `SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int4 AS read FROM pg_stat_xact_user_tables WHERE schemaname = 'ledger' AND relname = 'tasks'`,
  );
  return rows[0]?.read ?? Number.NaN;
}
