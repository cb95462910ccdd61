import type { Tx } from '../database.ts';

export type AnsweredRequest = { readonly bodyHash: string; readonly reply: unknown };

/** The answer that was given to a request of this id, if any. */
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
