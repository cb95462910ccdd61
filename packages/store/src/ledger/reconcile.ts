import type { Tx } from '../database.ts';
import type { TaskKey } from './rows.ts';

export type Repair = TaskKey & {
  readonly stepId: string | null;
  readonly what: 'due_time' | 'settled_again' | 'decided';
  readonly detail: string;
};
type RepairRow = { tenant_id: string; task_id: string; step_id: string | null; detail: string };

const ACTIVE = `('ready', 'dispatched', 'executing', 'backing_off')`;

/**
 * No sweep finds a step in motion without a due time. It gets one: now, plus a lease if it is running, so that a live
 * worker keeps its claim. Recorded in the same transaction, like the others.
 */
export async function repairDueTimes(tx: Tx, leaseMs: number): Promise<readonly Repair[]> {
  const { rows } = await tx.query<RepairRow>(
    `WITH repaired AS (
       UPDATE ledger.steps s SET due_at = now() + CASE WHEN s.phase = 'executing' THEN make_interval(secs => $1::float8 / 1000) ELSE interval '0' END
       WHERE s.phase IN ${ACTIVE} AND (s.due_at IS NULL OR s.due_at = 'infinity') RETURNING s.task_seq, s.step_id, s.phase
     ), told AS (
       INSERT INTO ledger.repairs (tenant_id, task_id, step_id, what, detail)
       SELECT t.tenant_id, t.task_id, r.step_id, 'due_time', r.phase || ' without a due time' FROM repaired r JOIN ledger.tasks t USING (task_seq)
       RETURNING tenant_id, task_id, step_id, detail
     ) SELECT * FROM told`,
    [leaseMs],
  );
  return rows.map((row) => toRepair(row, 'due_time'));
}

/** Tasks that nothing moves; those with overdue steps are left to the sweep. */
export async function findStuckTasks(tx: Tx, limit: number): Promise<readonly TaskKey[]> {
  const { rows } = await tx.query<{ tenant_id: string; task_id: string }>(
    `SELECT u.tenant_id, u.task_id FROM ledger.unaccounted_tasks u JOIN ledger.tasks t USING (tenant_id, task_id)
     WHERE NOT EXISTS (SELECT FROM ledger.steps s WHERE s.task_seq = t.task_seq AND s.phase IN ${ACTIVE}) ORDER BY t.task_seq LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, taskId: row.task_id }));
}

/** Candidates that wait although their task counts as settled: the maintainer is told once more. */
export async function repairSettlements(tx: Tx): Promise<readonly Repair[]> {
  const { rows } = await tx.query<RepairRow>(
    `WITH repaired AS (
       UPDATE ledger.settlements s SET settled_at = NULL, due_at = now(), tries = 0
       FROM ledger.unaccounted_candidates u WHERE s.tenant_id = u.tenant_id AND s.task_id = u.task_id AND s.settled_at IS NOT NULL
       RETURNING s.tenant_id, s.task_id
     ), told AS (
       INSERT INTO ledger.repairs (tenant_id, task_id, what, detail)
       SELECT tenant_id, task_id, 'settled_again', 'candidates wait although the task counts as settled' FROM repaired
       RETURNING tenant_id, task_id, step_id, detail
     ) SELECT * FROM told`,
  );
  return rows.map((row) => toRepair(row, 'settled_again'));
}

/** Finished tasks whose candidates wait and that have no settlement at all: the caller derives it from the task. */
export async function findUnsettledTasks(tx: Tx, limit: number): Promise<readonly TaskKey[]> {
  const { rows } = await tx.query<{ tenant_id: string; task_id: string }>(
    `SELECT u.tenant_id, u.task_id FROM ledger.unaccounted_candidates u
     WHERE NOT EXISTS (SELECT FROM ledger.settlements s WHERE s.tenant_id = u.tenant_id AND s.task_id = u.task_id) ORDER BY 1, 2 LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, taskId: row.task_id }));
}

export async function insertRepairs(tx: Tx, repairs: readonly Repair[]): Promise<void> {
  if (repairs.length === 0) return;
  await tx.query(
    `INSERT INTO ledger.repairs (tenant_id, task_id, step_id, what, detail)
     SELECT x."tenantId", x."taskId", x."stepId", x.what, x.detail FROM json_to_recordset($1) AS x("tenantId" text, "taskId" text, "stepId" text, what text, detail text)`,
    [JSON.stringify(repairs)],
  );
}

export async function countUnaccountedCandidates(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ n: number }>('SELECT count(*)::int4 AS n FROM ledger.unaccounted_candidates');
  return rows[0]?.n ?? 0;
}

/** Requests of `slate doctor --repair` nobody has answered. */
export async function findRepairRequests(tx: Tx): Promise<readonly string[]> {
  const { rows } = await tx.query<{ request_id: string }>(
    'SELECT request_id FROM ledger.repair_requests WHERE done_at IS NULL',
  );
  return rows.map((row) => row.request_id);
}

export async function answerRepairRequests(tx: Tx, requestIds: readonly string[], repaired: number): Promise<void> {
  await tx.query(
    'UPDATE ledger.repair_requests SET done_at = now(), repaired = $2 WHERE request_id = ANY($1::text[]) AND done_at IS NULL',
    [requestIds, repaired],
  );
  await tx.query(`DELETE FROM ledger.repair_requests WHERE done_at < now() - interval '1 day'`);
}

function toRepair(row: RepairRow, what: Repair['what']): Repair {
  return { tenantId: row.tenant_id, taskId: row.task_id, stepId: row.step_id, what, detail: row.detail };
}
