import type { Database } from '../database.ts';

/** One role at this moment, of all tenants. */
export type RoleLoad = {
  readonly role: string;
  /** Wait for a slot. */
  readonly ready: number;
  /** Rung for, not yet claimed. */
  readonly dispatched: number;
  readonly executing: number;
  /** Wait for their next attempt. */
  readonly backingOff: number;
  /** How long the oldest ready one has waited. Seconds; null where none waits. */
  readonly oldestSeconds: number | null;
  readonly workers: number;
  readonly slots: number;
  readonly free: number;
};

export type TenantLoad = { readonly tenantId: string; readonly ready: number; readonly inFlight: number };

export type Overview = {
  readonly roles: readonly RoleLoad[];
  /** The busiest ten. */
  readonly tenants: readonly TenantLoad[];
  readonly openLetters: number;
  readonly unaccounted: number;
  /** Doorbells that nobody answered yet and whose PubAck is not on record. */
  readonly outbox: number;
  /** Last event position that was given out. */
  readonly position: number;
};

/** The whole platform at this moment, as an administrator sees it. */
export async function readOverview({ pool }: Pick<Database, 'pool'>): Promise<Overview> {
  // One half for each partial index; whatever is in motion has a time at which it is looked at.
  const active = `SELECT role, tenant_id, phase, ready_at FROM ledger.steps WHERE phase = 'ready'
    UNION ALL SELECT role, tenant_id, phase, NULL FROM ledger.steps WHERE phase IN ('dispatched', 'executing', 'backing_off') AND look_at IS NOT NULL`;
  const [roles, tenants, totals] = await Promise.all([
    pool.query<RoleLoad>(
      `WITH load AS (
         SELECT role, count(*) FILTER (WHERE phase = 'ready')::int4 AS ready, count(*) FILTER (WHERE phase = 'dispatched')::int4 AS dispatched,
           count(*) FILTER (WHERE phase = 'executing')::int4 AS executing, count(*) FILTER (WHERE phase = 'backing_off')::int4 AS backing_off,
           extract(epoch FROM now() - min(ready_at))::float8 AS oldest FROM (${active}) steps GROUP BY role),
       pools AS (SELECT role, count(*)::int4 AS workers, sum(slots)::int4 AS slots, sum(free)::int4 AS free FROM ledger.workers GROUP BY role)
       SELECT role, coalesce(ready, 0) AS ready, coalesce(dispatched, 0) AS dispatched, coalesce(executing, 0) AS executing,
         coalesce(backing_off, 0) AS "backingOff", CASE WHEN oldest IS NOT NULL THEN greatest(0, oldest) END AS "oldestSeconds",
         coalesce(workers, 0) AS workers, coalesce(slots, 0) AS slots, coalesce(free, 0) AS free
       FROM load FULL JOIN pools USING (role) ORDER BY role`,
    ),
    pool.query<TenantLoad>(
      `SELECT tenant_id AS "tenantId", count(*) FILTER (WHERE phase = 'ready')::int4 AS ready, count(*) FILTER (WHERE phase <> 'ready')::int4 AS "inFlight"
       FROM (${active}) steps GROUP BY tenant_id ORDER BY count(*) DESC, tenant_id LIMIT 10`,
    ),
    pool.query<Omit<Overview, 'roles' | 'tenants'>>(
      `SELECT (SELECT count(*) FROM ledger.dead_letters WHERE status = 'open')::int4 AS "openLetters",
         (SELECT count(*) FROM ledger.unaccounted_tasks)::int4 AS unaccounted,
         (SELECT count(*) FROM ledger.steps WHERE phase = 'dispatched' AND doorbell_seq IS NULL)::int4 AS outbox,
         (SELECT position FROM ledger.meta)::float8 AS position`,
    ),
  ]);
  const [total] = totals.rows;
  return {
    roles: roles.rows,
    tenants: tenants.rows,
    ...(total ?? { openLetters: 0, unaccounted: 0, outbox: 0, position: 0 }),
  };
}

export type EventCounts = {
  readonly accepted: number;
  readonly completed: number;
  readonly failed: number;
  readonly steps: number;
};

/** What was committed between two positions: `readOverview` twice gives a rate. */
export async function countEvents(
  { pool }: Pick<Database, 'pool'>,
  after: number,
  until: number,
): Promise<EventCounts> {
  const { rows } = await pool.query<EventCounts>(
    `SELECT count(*) FILTER (WHERE type = 'task.accepted.v1' AND NOT (data->>'duplicate')::boolean)::int4 AS accepted,
       count(*) FILTER (WHERE type = 'task.transitioned.v1' AND data->>'to' = 'completed')::int4 AS completed,
       count(*) FILTER (WHERE type = 'task.transitioned.v1' AND data->>'to' = 'failed')::int4 AS failed,
       count(*) FILTER (WHERE type = 'step.transitioned.v1' AND data->>'to' IN ('completed', 'failed'))::int4 AS steps
     FROM (SELECT envelope->>'type' AS type, envelope->'data' AS data FROM ledger.events WHERE position > $1 AND position <= $2) events`,
    [after, until],
  );
  return rows[0] ?? { accepted: 0, completed: 0, failed: 0, steps: 0 };
}
