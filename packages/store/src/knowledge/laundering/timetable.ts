import { AppError } from '@cleanslate/contracts';
import type { Tx } from '../../database.ts';

export type Duty = 'laundering' | 'indexes';

/**
 * Takes the turn at a duty that is due: true for one replica alone. The others see it due again after `leaseMs`, in
 * case this one dies over it.
 */
export async function takeTurn(tx: Tx, duty: Duty, leaseMs: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE knowledge.timetable SET due_at = now() + make_interval(secs => $2::float8 / 1000) WHERE duty = $1 AND due_at <= now()`,
    [duty, leaseMs],
  );
  return rowCount === 1;
}

/** It is done, or can wait: due again after this. */
export async function endTurn(tx: Tx, duty: Duty, dueInMs: number): Promise<void> {
  await tx.query(
    `UPDATE knowledge.timetable SET due_at = now() + make_interval(secs => $2::float8 / 1000) WHERE duty = $1`,
    [duty, dueInMs],
  );
}

/** The database's clock, as everywhere in the knowledge base. */
export async function readClock(tx: Tx): Promise<Date> {
  const { rows } = await tx.query<{ now: Date }>(`SELECT date_trunc('milliseconds', clock_timestamp()) AS now`);
  const [row] = rows;
  if (row === undefined) throw new AppError('INTERNAL', 'the clock gave no answer');
  return row.now;
}

/** Tenants that have facts. */
export async function findKnowledgeTenants(tx: Tx): Promise<string[]> {
  const { rows } = await tx.query<{ tenant: string }>('SELECT t AS tenant FROM knowledge.tenants() AS t');
  return rows.map(({ tenant }) => tenant);
}

/** Revisions written in the last minute: the measure of "quiet". */
export async function countRecentRevisions(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM knowledge.revisions WHERE committed_at > now() - interval '1 minute'`,
  );
  return rows[0]?.count ?? 0;
}

export async function maintainIndexes(tx: Tx): Promise<void> {
  await tx.query('SELECT knowledge.maintain_indexes()');
}
