import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '@cleanslate/contracts';
import type pg from 'pg';
import { asAdmin } from '../admin.ts';
import type { Tx } from '../database.ts';

/** A key as its owner receives it, once: only its hash is kept. */
export type NewApiKey = { readonly keyId: string; readonly key: string };

export type ApiKeyRow = {
  readonly keyId: string;
  readonly createdAt: string;
  /** In the past: revoked. In the future: valid until then. */
  readonly revokedAt: string | null;
};

/**
 * The tenant that the key belongs to, looked up in a transaction of `cleanslate_gateway`; undefined for a key that is
 * unknown or revoked.
 */
export async function findApiKey(tx: Tx, key: string): Promise<{ keyId: string; tenantId: string } | undefined> {
  const wanted = hashOf(key);
  const { rows } = await tx.query<{ key_id: string; tenant_id: string; hash: Buffer }>(
    'SELECT key_id, tenant_id, hash FROM auth.find_api_key($1)',
    [wanted],
  );
  const [row] = rows;
  if (row === undefined || !timingSafeEqual(row.hash, wanted)) return undefined;
  return { keyId: row.key_id, tenantId: row.tenant_id };
}

/** Adds a key to the existing ones. Throws `UNKNOWN_TENANT`. */
export function addApiKey(adminUrl: string, tenantId: string): Promise<NewApiKey> {
  return asAdmin(adminUrl, async (client) => {
    await lockTenant(client, tenantId);
    return insertApiKey(client, tenantId);
  });
}

/** A new key; the old ones end after `keepOldMs` (0: at once). Throws `UNKNOWN_TENANT`. */
export function rotateApiKey(adminUrl: string, tenantId: string, keepOldMs: number): Promise<NewApiKey> {
  return asAdmin(adminUrl, async (client) => {
    await lockTenant(client, tenantId);
    await client.query(
      `UPDATE auth.api_keys SET revoked_at = least(revoked_at, now() + $2 * interval '1 millisecond') WHERE tenant_id = $1`,
      [tenantId, keepOldMs],
    );
    return insertApiKey(client, tenantId);
  });
}

/**
 * Makes a key of the caller's choice valid: that of a local stack, which keeps it in its credentials. Repeating it
 * changes nothing.
 */
export function putApiKey(adminUrl: string, tenantId: string, key: string): Promise<void> {
  return putApiKeyHash(adminUrl, tenantId, hashOf(key));
}

/** The same for callers that have only its SHA-256. A revoked key stays revoked. Throws `UNKNOWN_TENANT`. */
export function putApiKeyHash(adminUrl: string, tenantId: string, hash: Buffer): Promise<void> {
  return asAdmin(adminUrl, async (client) => {
    await lockTenant(client, tenantId);
    await client.query(
      'INSERT INTO auth.api_keys (key_id, tenant_id, hash) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING',
      [newKeyId(), tenantId, hash],
    );
  });
}

/** Newest first. */
export async function findApiKeys(client: pg.Client, tenantId: string): Promise<ApiKeyRow[]> {
  const { rows } = await client.query<{ key_id: string; created_at: Date; revoked_at: Date | null }>(
    'SELECT key_id, created_at, revoked_at FROM auth.api_keys WHERE tenant_id = $1 ORDER BY created_at DESC, key_id',
    [tenantId],
  );
  return rows.map((row) => ({
    keyId: row.key_id,
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  }));
}

export async function insertApiKey(client: pg.Client, tenantId: string): Promise<NewApiKey> {
  const keyId = newKeyId();
  const key = `csk_${keyId}_${randomBytes(32).toString('base64url')}`;
  await client.query('INSERT INTO auth.api_keys (key_id, tenant_id, hash) VALUES ($1, $2, $3)', [
    keyId,
    tenantId,
    hashOf(key),
  ]);
  return { keyId, key };
}

async function lockTenant(client: pg.Client, tenantId: string): Promise<void> {
  const known = await client.query('SELECT FROM ledger.tenants WHERE tenant_id = $1 FOR SHARE', [tenantId]);
  if (known.rowCount === 0) throw new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
}

function newKeyId(): string {
  return randomBytes(6).toString('hex');
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
