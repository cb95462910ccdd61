import { AppError } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

/** The last committed revision; 0 before the first. */
export async function getLastRevision(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ revision: number }>(
    'SELECT coalesce(max(revision), 0) AS revision FROM knowledge.revisions',
  );
  return rows[0]?.revision ?? 0;
}

/**
 * The revision that was the last one at `time` (UTC); 0 before the first. Throws `INVALID_INPUT` for a time in the
 * future: which one will be its last isn't known yet.
 */
export async function findRevisionAt(tx: Tx, time: string): Promise<number> {
  const { rows } = await tx.query<{ revision: number; now: Date; ahead: boolean }>(
    `SELECT coalesce((SELECT revision FROM knowledge.revisions WHERE committed_at <= $1::timestamptz ORDER BY committed_at DESC, revision DESC LIMIT 1), 0) AS revision,
       clock_timestamp() AS now, $1::timestamptz > clock_timestamp() AS ahead`,
    [time],
  );
  const found = rows[0];
  if (found?.ahead)
    throw new AppError(
      'INVALID_INPUT',
      `knownAt: ${time} is still to come (the knowledge base's clock says ${found.now.toISOString()}): leave it out for what is known now`,
    );
  return found?.revision ?? 0;
}

/** The state of the knowledge base when a writer has got its turn. */
export type KnowledgeHead = { readonly revision: number; readonly now: Date };

/** Writers of knowledge take turns, however many replicas run: the lock is held until the transaction ends. */
export async function lockKnowledge(tx: Tx): Promise<KnowledgeHead> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtext('cleanslate.knowledge'))`);
  // A separate statement: its snapshot must be taken after the wait, or it would not see what the last holder wrote.
  const { rows } = await tx.query<KnowledgeHead>(
    `SELECT coalesce((SELECT max(revision) FROM knowledge.revisions), 0) AS revision, date_trunc('milliseconds', clock_timestamp()) AS now`,
  );
  const head = rows[0];
  if (head === undefined) throw new AppError('INTERNAL', 'the knowledge clock gave no answer');
  return head;
}

export type TakenRevisions = {
  /** The first one reserved; the others count on. */
  readonly first: number;
  /** Their wall time, never before that of an earlier revision. */
  readonly at: Date;
};

/** Reserves the next `count` revisions. Needs `lockKnowledge`; a rollback returns them, so there is no gap. */
export async function takeRevisions(tx: Tx, count: number): Promise<TakenRevisions> {
  const { rows } = await tx.query<{ first: number; at: Date }>(
    `WITH last AS (
       SELECT coalesce(max(revision), 0) AS revision, max(committed_at) AS at FROM knowledge.revisions
     ), taken AS (
       INSERT INTO knowledge.revisions (revision, committed_at)
       SELECT last.revision + step, greatest(date_trunc('milliseconds', clock_timestamp()), last.at)
       FROM last, generate_series(1, $1) AS step RETURNING revision, committed_at
     )
     SELECT min(revision) AS first, min(committed_at) AS at FROM taken`,
    [count],
  );
  const taken = rows[0];
  if (taken === undefined) throw new AppError('INTERNAL', 'no revision was taken');
  return taken;
}
