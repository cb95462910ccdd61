import { AppError } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

export type StoredSpace = {
  readonly space: string;
  readonly model: string;
  readonly dimension: number;
  readonly normaliser: string;
  readonly state: 'filling' | 'active' | 'retired';
};

/** The spaces that vectors are kept in, the active one first. */
export async function findSpaces(tx: Tx): Promise<StoredSpace[]> {
  const { rows } = await tx.query<StoredSpace>(
    'SELECT space, model, dimension, normaliser, state FROM knowledge.embedding_spaces ORDER BY state, created_at',
  );
  return rows;
}

/**
 * Throws `EMBEDDING_MISMATCH` if the stored vectors are from another model than the configured one: they can't be
 * compared.
 */
export function checkSpace(spaces: readonly StoredSpace[], configured: string): void {
  const active = spaces.find(({ state }) => state === 'active');
  if (active === undefined || active.space === configured) return;
  throw new AppError(
    'EMBEDDING_MISMATCH',
    `embeddings are configured as "${configured}", but the knowledge base is kept in "${active.space}": set EMBEDDING_MODEL and EMBEDDING_DIMENSION to that, or move the knowledge base with \`slate fact reembed\``,
  );
}

/**
 * Adds a space: active if there is none yet, otherwise waiting to be filled. The vectors of a retired one may be gone.
 */
export async function addSpace(tx: Tx, space: Omit<StoredSpace, 'state'>): Promise<void> {
  await tx.query(
    `INSERT INTO knowledge.embedding_spaces (space, model, dimension, normaliser, state)
     SELECT $1, $2, $3, $4, CASE WHEN EXISTS (SELECT FROM knowledge.embedding_spaces WHERE state = 'active') THEN 'filling' ELSE 'active' END
     ON CONFLICT (space) DO UPDATE SET state = 'filling', embedded_until = 0 WHERE knowledge.embedding_spaces.state = 'retired'`,
    [space.space, space.model, space.dimension, space.normaliser],
  );
}

/**
 * Makes a filled space the active one; the one before stays readable until its readers have moved. Needs the knowledge
 * lock.
 */
export async function switchSpace(tx: Tx, space: string): Promise<void> {
  await tx.query(`UPDATE knowledge.embedding_spaces SET state = 'retired' WHERE state = 'active' AND space <> $1`, [
    space,
  ]);
  await tx.query(`UPDATE knowledge.embedding_spaces SET state = 'active' WHERE space = $1`, [space]);
}

/** Removes the vectors of retired spaces, at most `limit` rows. Returns how many went. */
export async function dropRetiredVectors(tx: Tx, limit: number): Promise<number> {
  const { rowCount } = await tx.query(
    `DELETE FROM knowledge.fact_embeddings e USING (
       SELECT f.fact_seq, f.space FROM knowledge.embedding_spaces s JOIN knowledge.fact_embeddings f ON f.space = s.space WHERE s.state = 'retired' LIMIT $1
     ) gone WHERE e.fact_seq = gone.fact_seq AND e.space = gone.space`,
    [limit],
  );
  return rowCount ?? 0;
}
