import type { Tx } from '../database.ts';

/** Content-addressed bytes of the transaction's tenant. */
export async function findObject(tx: Tx, sha256: string): Promise<Buffer | undefined> {
  const { rows } = await tx.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger.objects WHERE tenant_id = current_setting('cleanslate.tenant') AND sha256 = $1 AND redacted_at IS NULL`,
    [sha256],
  );
  return rows[0]?.bytes;
}
