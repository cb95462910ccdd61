import type { Tx } from '../database.ts';

/** The work of one role: autoscaling and alerts follow it. */
export type RoleQueue = {
  readonly role: string;
  /** Steps that wait for a slot. */
  readonly ready: number;
  /** Steps with a doorbell out, or running. */
  readonly inFlight: number;
  /** How long the oldest ready one has waited; 0 if none waits. Seconds. */
  readonly oldestSeconds: number;
};

/** A role whose steps are all done is not in it. */
export async function readQueues(tx: Tx): Promise<readonly RoleQueue[]> {
  const { rows } = await tx.query<{ role: string; ready: number; in_flight: number; oldest: number }>(
    // One half per partial index.
    `SELECT role, sum(ready)::int4 AS ready, sum(in_flight)::int4 AS in_flight, coalesce(max(oldest), 0)::float8 AS oldest FROM (
       SELECT role, count(*) AS ready, 0 AS in_flight, extract(epoch FROM now() - min(ready_at)) AS oldest FROM ledger.steps WHERE phase = 'ready' GROUP BY role
       UNION ALL
       SELECT role, 0, count(*), NULL FROM ledger.steps WHERE phase IN ('dispatched', 'executing') GROUP BY role
     ) halves GROUP BY role`,
  );
  return rows.map((row) => ({
    role: row.role,
    ready: row.ready,
    inFlight: row.in_flight,
    oldestSeconds: Math.max(0, row.oldest),
  }));
}
