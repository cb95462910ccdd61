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
 * Removes what is older than its tenant's retention, at most `limit` of each kind. A failed task whose dead letter is still open stays: it can be replayed. An object goes when every
 * task that is left is younger than its last use.
 */
export async function forgetFinished(tx: Tx, defaultDays: number, limit: number): Promise<Forgotten> {
  const tasks = await tx.query<{ tenant_id: string; task_id: string }>(
    `DELETE FROM ledger.tasks WHERE task_seq IN (
       SELECT t.task_seq FROM ledger.tasks t JOIN ledger.tenants n USING (tenant_id)
       WHERE t.state IN ('completed', 'failed') AND t.updated_at < now() - make_interval(days => coalesce(n.retain_days, $1))
         AND NOT EXISTS (SELECT FROM ledger.dead_letters d WHERE d.tenant_id = t.tenant_id AND d.task_id = t.task_id AND d.status NOT IN ('closed', 'discarded'))
       ORDER BY t.updated_at LIMIT $2 FOR UPDATE OF t SKIP LOCKED)
     RETURNING tenant_id, task_id`,
    [defaultDays, limit],
  );
  const keys = [tasks.rows.map((row) => row.tenant_id), tasks.rows.map((row) => row.task_id)];
  const [ofTasks, refused, objects, requests] = await Promise.all([
    tx.query(
      'DELETE FROM ledger.events e USING unnest($1::text[], $2::text[]) AS k(tenant_id, task_id) WHERE e.tenant_id = k.tenant_id AND e.task_id = k.task_id AND e.position IS NOT NULL',
      keys,
    ),
    tx.query(
      `DELETE FROM ledger.events WHERE event_id IN (
         SELECT e.event_id FROM ledger.events e WHERE e.created_at < now() - make_interval(days => $1) AND e.position <= (SELECT position FROM ledger.published)
           AND NOT EXISTS (SELECT FROM ledger.tasks t WHERE t.tenant_id = e.tenant_id AND t.task_id = e.task_id) ORDER BY e.created_at LIMIT $2)`,
      [defaultDays, limit],
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
