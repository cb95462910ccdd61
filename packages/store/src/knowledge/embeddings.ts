import { type Database, type Tx, withTransaction } from '../database.ts';

const INDEX_TIMEOUT_MS = 3_600_000;

export type Unembedded = {
  readonly factSeq: number;
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly version: number;
  readonly statement: string;
};

/** Versions after `after` that have no vector in this space, oldest first. */
export async function findUnembedded(tx: Tx, space: string, after: number, limit: number): Promise<Unembedded[]> {
  const { rows } = await tx.query<Unembedded>(
    `SELECT v.fact_seq AS "factSeq", v.tenant_id AS "tenantId", v.knowledge_id AS "knowledgeId", v.version, v.statement
     FROM knowledge.fact_versions v
     WHERE v.fact_seq > $2 AND v.redacted_revision IS NULL
       AND NOT EXISTS (SELECT FROM knowledge.fact_embeddings e WHERE e.fact_seq = v.fact_seq AND e.space = $1)
     ORDER BY v.fact_seq LIMIT $3`,
    [space, after, limit],
  );
  return rows;
}

export type NewEmbedding = { readonly factSeq: number; readonly tenantId: string; readonly vector: Float32Array };

/** The last version written so far: if it is read first, a space without missing vectors is complete up to it. */
export async function getLastVersion(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ last: number }>(
    'SELECT coalesce(max(fact_seq), 0) AS last FROM knowledge.fact_versions',
  );
  return rows[0]?.last ?? 0;
}

/** Stores vectors; one that is there already stays. */
export async function insertEmbeddings(tx: Tx, space: string, embeddings: readonly NewEmbedding[]): Promise<void> {
  if (embeddings.length === 0) return;
  await tx.query(
    `INSERT INTO knowledge.fact_embeddings (fact_seq, space, tenant_id, embedding)
     SELECT x.fact_seq, $1, x.tenant_id, x.embedding::vector FROM unnest($2::int8[], $3::text[], $4::text[]) AS x (fact_seq, tenant_id, embedding)
     -- What was redacted while its vector was being made gets none.
     JOIN knowledge.fact_versions v ON v.fact_seq = x.fact_seq AND v.redacted_revision IS NULL
     ON CONFLICT DO NOTHING`,
    [
      space,
      embeddings.map(({ factSeq }) => factSeq),
      embeddings.map(({ tenantId }) => tenantId),
      embeddings.map(({ vector }) => toVectorText(vector)),
    ],
  );
}

export function toVectorText(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}

/** How many vectors a space holds. */
export async function countEmbeddings(tx: Tx, space: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'SELECT count(*) AS count FROM knowledge.fact_embeddings WHERE space = $1',
    [space],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Builds the index of a space that has grown large; does nothing if it has one. In a transaction of its own, which may
 * take a while: readers go on reading, and stored vectors stay stored if it fails.
 */
export async function buildVectorIndex(database: Database, space: string): Promise<boolean> {
  const scope = { role: 'cleanslate_maintainer', queryTimeoutMs: INDEX_TIMEOUT_MS } as const;
  return await withTransaction(database, scope, async (tx) => {
    // Another replica may be building it: its index is there when the wait is over.
    await tx.query(`SELECT pg_advisory_xact_lock(hashtext('cleanslate.vector-index'))`);
    const { rows } = await tx.query<{ built: boolean }>('SELECT knowledge.build_vector_index($1) AS built', [space]);
    return rows[0]?.built ?? false;
  });
}
