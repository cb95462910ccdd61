import { createHash } from 'node:crypto';
import type { Tx } from '../database.ts';

export type StoredObject = { readonly tenantId: string; readonly sha256: string; readonly bytes: Uint8Array };

export function toObject(tenantId: string, bytes: Uint8Array): StoredObject {
  return { tenantId, sha256: createHash('sha256').update(bytes).digest('hex'), bytes };
}

/**
 * Content-addressed, so storing twice is storing once; `created_at` becomes the last use, which retention goes by. An
 * erased one is back when somebody stores it again.
 */
export async function putObjects(tx: Tx, objects: readonly StoredObject[]): Promise<void> {
  if (objects.length === 0) return;
  const distinct = [...new Map(objects.map((object) => [`${object.tenantId}/${object.sha256}`, object])).values()];
  await tx.query(
    'INSERT INTO ledger.objects (tenant_id, sha256, bytes) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) ON CONFLICT (tenant_id, sha256) DO UPDATE SET created_at = now(), redacted_at = NULL, bytes = CASE WHEN objects.redacted_at IS NULL THEN objects.bytes ELSE excluded.bytes END',
    [
      distinct.map((object) => object.tenantId),
      distinct.map((object) => object.sha256),
      distinct.map((object) => Buffer.from(object.bytes)),
    ],
  );
}

/** An object that was redacted keeps its name and has no bytes. */
export async function findStoredObject(
  tx: Tx,
  tenantId: string,
  sha256: string,
): Promise<{ readonly bytes: Uint8Array; readonly redactedAt: Date | null } | undefined> {
  const { rows } = await tx.query<{ bytes: Buffer; redactedAt: Date | null }>(
    'SELECT bytes, redacted_at AS "redactedAt" FROM ledger.objects WHERE tenant_id = $1 AND sha256 = $2',
    [tenantId, sha256],
  );
  return rows[0];
}
