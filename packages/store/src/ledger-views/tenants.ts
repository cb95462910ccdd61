import { mismatch, TenantId } from '@cleanslate/contracts';
import pg from 'pg';
import type { Tx } from '../database.ts';

/**
 * Registers tenants that don't exist yet, as an administrator; the scheduler then accepts their submits. Throws
 * `SCHEMA_MISMATCH`.
 */
export async function addTenants(adminUrl: string, tenantIds: readonly string[]): Promise<void> {
  for (const tenantId of tenantIds) {
    const parsed = TenantId.safeParse(tenantId);
    if (!parsed.success) throw mismatch('tenant', parsed.error);
  }
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(
      'INSERT INTO ledger.tenants (tenant_id) SELECT unnest($1::text[]) ON CONFLICT (tenant_id) DO NOTHING',
      [tenantIds],
    );
  } finally {
    await client.end();
  }
}

export async function hasTenant(tx: Tx, tenantId: string): Promise<boolean> {
  const { rows } = await tx.query('SELECT FROM ledger.tenants WHERE tenant_id = $1', [tenantId]);
  return rows.length > 0;
}
