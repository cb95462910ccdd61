import type { Tx } from '../database.ts';

export type AnsweredRequest = { readonly bodyHash: string; readonly reply: unknown };

/** The answer that was given to a request with this id, if any. */
export async function findRequest(tx: Tx, tenantId: string, requestId: string): Promise<AnsweredRequest | undefined> {
  const { rows } = await tx.query<AnsweredRequest>(
    'SELECT body_hash AS "bodyHash", reply FROM knowledge.requests WHERE tenant_id = $1 AND request_id = $2',
    [tenantId, requestId],
  );
  return rows[0];
}

export async function insertRequest(
  tx: Tx,
  tenantId: string,
  requestId: string,
  answered: AnsweredRequest,
): Promise<void> {
  await tx.query('INSERT INTO knowledge.requests (tenant_id, request_id, body_hash, reply) VALUES ($1, $2, $3, $4)', [
    tenantId,
    requestId,
    answered.bodyHash,
    JSON.stringify(answered.reply),
  ]);
}

/**
 * Replaces a tenant's unkeyed request hashes by keyed ones: a short request could be found by trying. `key`: plain →
 * keyed.
 */
export async function keyRequests(tx: Tx, tenantId: string, key: (bodyHash: string) => string): Promise<void> {
  const { rows } = await tx.query<{ hash: string }>(
    `SELECT DISTINCT body_hash AS hash FROM knowledge.requests WHERE tenant_id = $1 AND body_hash ~ '^[0-9a-f]{64}$'`,
    [tenantId],
  );
  // A look-up in one value with sorted keys: as a join without an index this takes minutes for 20,000.
  await tx.query(
    `UPDATE knowledge.requests SET body_hash = $2::jsonb ->> body_hash WHERE tenant_id = $1 AND $2::jsonb ? body_hash`,
    [tenantId, JSON.stringify(Object.fromEntries(rows.map(({ hash }) => [hash, key(hash)])))],
  );
}
