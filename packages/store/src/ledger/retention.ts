import type { Tx } from '../database.ts';

export type Forgotten = {
  readonly tasks: number;
  readonly events: number;
  readonly objects: number;
  readonly requests: number;
};

/** Answers to control requests are repeated within minutes, if at all. */
const REQUEST_DAYS = 7;

/**
 * Removes what is older than its tenant's retention, at most `limit` of each kind. A failed task whose dead letter is
 * still open stays: it can be replayed. An object goes when every task that is left is younger than its last use.
 */
export async function forgetFinished(tx: Tx, defaultDays: number, limit: number): Promise<Forgotten> {
  const [tasks, lastOld] = await Promise.all([
    tx.query<{ tenant_id: string; task_id: string }>(
      `DELETE FROM ledger.tasks WHERE task_seq IN (
       SELECT old.task_seq FROM ledger.tenants n CROSS JOIN LATERAL (SELECT now() - make_interval(days => coalesce(n.retain_days, $1)) AS at) until CROSS JOIN LATERAL (
         SELECT t.task_seq FROM ledger.tasks t
         WHERE t.tenant_id = n.tenant_id AND t.created_at < until.at AND t.updated_at < until.at AND t.state IN ('completed', 'failed')
           AND NOT EXISTS (SELECT FROM ledger.dead_letters d WHERE d.tenant_id = t.tenant_id AND d.task_id = t.task_id AND d.status NOT IN ('closed', 'discarded'))
         ORDER BY t.created_at LIMIT $2 FOR UPDATE SKIP LOCKED
       ) old LIMIT $2)
     RETURNING tenant_id, task_id`,
      [defaultDays, limit],
    ),
    findLastOld(tx, defaultDays),
  ]);
  const keys = [tasks.rows.map((row) => row.tenant_id), tasks.rows.map((row) => row.task_id)];
  const [ofTasks, refused, objects, requests] = await Promise.all([
    tx.query(
      'DELETE FROM ledger.events e USING unnest($1::text[], $2::text[]) AS k(tenant_id, task_id) WHERE e.tenant_id = k.tenant_id AND e.task_id = k.task_id AND e.position IS NOT NULL',
      keys,
    ),
    tx.query(
      `DELETE FROM ledger.events WHERE position IN (
         SELECT e.position FROM ledger.events e WHERE e.position <= $3 AND e.created_at < now() - make_interval(days => $1)
           AND NOT EXISTS (SELECT FROM ledger.tasks t WHERE t.tenant_id = e.tenant_id AND t.task_id = e.task_id) ORDER BY e.position LIMIT $2)`,
      [defaultDays, limit, lastOld],
    ),
    tx.query(
      `DELETE FROM ledger.objects WHERE (tenant_id, sha256) IN (
         SELECT o.tenant_id, o.sha256 FROM ledger.tenants n CROSS JOIN LATERAL (
           SELECT tenant_id, sha256 FROM ledger.objects WHERE tenant_id = n.tenant_id AND created_at < least(
             now() - make_interval(days => coalesce(n.retain_days, $1)), (SELECT min(t.created_at) FROM ledger.tasks t WHERE t.tenant_id = n.tenant_id)) LIMIT $2
         ) o LIMIT $2)`,
      [defaultDays, limit],
    ),
    tx.query(
      'DELETE FROM ledger.requests WHERE (tenant_id, request_id) IN (SELECT tenant_id, request_id FROM ledger.requests WHERE at < now() - make_interval(days => $1) ORDER BY at LIMIT $2)',
      [REQUEST_DAYS, limit],
    ),
  ]);
  return {
    tasks: tasks.rows.length,
    events: (ofTasks.rowCount ?? 0) + (refused.rowCount ?? 0),
    objects: objects.rowCount ?? 0,
    requests: requests.rowCount ?? 0,
  };
}

/**
 * The position up to which published events are older than `days`, found by halves: positions are given out in the
 * order of commits, so they are in the order of time but for moments.
 */
async function findLastOld(tx: Tx, days: number): Promise<number> {
  const { rows } = await tx.query<{ old: number }>(
    `WITH RECURSIVE half AS (
       SELECT 0::int8 AS old, position + 1 AS young FROM ledger.published
       UNION ALL
       SELECT CASE WHEN middle.is_old THEN middle.at ELSE half.old END, CASE WHEN middle.is_old THEN half.young ELSE middle.at END
       FROM half CROSS JOIN LATERAL (
         SELECT at, coalesce((SELECT e.created_at < now() - make_interval(days => $1) FROM ledger.events e WHERE e.position >= at ORDER BY e.position LIMIT 1), false) AS is_old
         FROM (SELECT (half.old + half.young) / 2 AS at) m
       ) middle WHERE half.young - half.old > 1
     )
     SELECT max(old)::int8 AS old FROM half`,
    [days],
  );
  return rows[0]?.old ?? 0;
}
