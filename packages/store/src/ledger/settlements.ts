import type { Tx } from '../database.ts';

export type DueSettlement = {
  readonly taskSeq: number;
  readonly tenantId: string;
  readonly taskId: string;
  readonly body: unknown;
  readonly tries: number;
  /** Of the task. */
  readonly traceparent: string | null;
};

/**
 * The maintainer must learn the outcome of a task's candidates; a later verdict (after a retry) replaces an earlier
 * one.
 */
export async function upsertSettlements(
  tx: Tx,
  rows: readonly { taskSeq: number; tenantId: string; taskId: string; body: unknown }[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO ledger.settlements (task_seq, tenant_id, task_id, body, due_at)
     SELECT x."taskSeq", x."tenantId", x."taskId", x.body, now() FROM json_to_recordset($1) AS x("taskSeq" int8, "tenantId" text, "taskId" text, body json)
     ON CONFLICT (task_seq) DO UPDATE SET body = excluded.body, due_at = excluded.due_at, tries = 0, settled_at = NULL, missing = '{}'`,
    [JSON.stringify(rows)],
  );
}

/** Settlements to be sent (again), with their next due time already set: 10 s, doubling, at most 10 min. */
export async function takeDueSettlements(tx: Tx, limit: number): Promise<readonly DueSettlement[]> {
  const { rows } = await tx.query<{
    task_seq: number;
    tenant_id: string;
    task_id: string;
    body: unknown;
    tries: number;
    traceparent: string | null;
  }>(
    `UPDATE ledger.settlements s SET tries = s.tries + 1, due_at = now() + make_interval(secs => least(600, 10 * 2 ^ least(s.tries, 10)))
     FROM (SELECT task_seq FROM ledger.settlements WHERE settled_at IS NULL AND due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
     WHERE s.task_seq = due.task_seq RETURNING s.task_seq, s.tenant_id, s.task_id, s.body, s.tries,
       (SELECT t.traceparent FROM ledger.tasks t WHERE t.task_seq = s.task_seq) AS traceparent`,
    [limit],
  );
  return rows.map((row) => ({
    taskSeq: row.task_seq,
    tenantId: row.tenant_id,
    taskId: row.task_id,
    body: row.body,
    tries: row.tries,
    traceparent: row.traceparent,
  }));
}

/**
 * The maintainer confirmed. With candidates missing it stays open until they arrive, or ten minutes have passed.
 * Returns what is still missing after that time.
 */
export async function confirmSettlement(
  tx: Tx,
  tenantId: string,
  taskId: string,
  missing: readonly string[],
): Promise<{ missingForGood: readonly string[] }> {
  const { rows } = await tx.query<{ late: boolean }>(
    `UPDATE ledger.settlements SET missing = $3::text[],
       settled_at = CASE WHEN cardinality($3::text[]) = 0 OR created_at < now() - interval '10 minutes' THEN now() END
     WHERE tenant_id = $1 AND task_id = $2 AND settled_at IS NULL RETURNING settled_at IS NOT NULL AS late`,
    [tenantId, taskId, missing],
  );
  return { missingForGood: rows[0]?.late ? missing : [] };
}
