import { AppError, mismatch, TenantId } from '@cleanslate/contracts';
import type pg from 'pg';
import { asAdmin } from '../admin.ts';
import { type ApiKeyRow, findApiKeys, insertApiKey, type NewApiKey } from './api-keys.ts';

export type TenantState = 'active' | 'suspended';

export type TenantSummary = {
  readonly tenantId: string;
  readonly state: TenantState;
  readonly createdAt: string;
  readonly unfinishedTasks: number;
  readonly apiKeys: readonly ApiKeyRow[];
};

/** All tenants with their keys (never the keys themselves), in the order of their ids. */
export function listTenants(adminUrl: string): Promise<TenantSummary[]> {
  return asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{
      tenant_id: string;
      state: TenantState;
      created_at: Date;
      unfinished: string;
    }>(
      `SELECT tenant_id, state, created_at,
              (SELECT count(*) FROM ledger.tasks k WHERE k.tenant_id = t.tenant_id AND k.state NOT IN ('completed', 'failed')) AS unfinished
       FROM ledger.tenants t ORDER BY tenant_id`,
    );
    const tenants: TenantSummary[] = [];
    for (const row of rows) {
      tenants.push({
        tenantId: row.tenant_id,
        state: row.state,
        createdAt: row.created_at.toISOString(),
        unfinishedTasks: Number(row.unfinished),
        apiKeys: await findApiKeys(client, row.tenant_id),
      });
    }
    return tenants;
  });
}

/**
 * Registers a tenant with its first API key; `key` undefined: it existed already, and nothing changed. Throws
 * `SCHEMA_MISMATCH`.
 */
export async function registerTenant(adminUrl: string, tenantId: string): Promise<{ readonly key?: NewApiKey }> {
  const parsed = TenantId.safeParse(tenantId);
  if (!parsed.success) throw mismatch('tenant', parsed.error);
  return asAdmin(adminUrl, async (client) => {
    const { rowCount } = await client.query(
      'INSERT INTO ledger.tenants (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING',
      [tenantId],
    );
    return rowCount === 1 ? { key: await insertApiKey(client, tenantId) } : {};
  });
}

/**
 * Suspended: its submits, retries, forks, replays and schedules are refused; what is running goes on. Throws
 * `UNKNOWN_TENANT`.
 */
export function setTenantState(adminUrl: string, tenantId: string, state: TenantState): Promise<void> {
  return asAdmin(adminUrl, async (client) => {
    const { rowCount } = await client.query('UPDATE ledger.tenants SET state = $2 WHERE tenant_id = $1', [
      tenantId,
      state,
    ]);
    if (rowCount === 0) throw new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
  });
}

/** Rows of a tenant by table, largest first; tables without any are left out. */
export type TenantRows = readonly { readonly table: string; readonly rows: number }[];

/** What `eraseTenant` would remove. Throws `UNKNOWN_TENANT`. */
export function countTenantRows(adminUrl: string, tenantId: string): Promise<TenantRows> {
  return asAdmin(adminUrl, async (client) => {
    await requireTenant(client, tenantId);
    return countRows(client, tenantId);
  });
}

/**
 * Removes a suspended tenant and everything it owns in every schema, in one transaction: tasks, events, letters, facts
 * and their history. Throws `UNKNOWN_TENANT`, `TENANT_ACTIVE` (suspend it, and let its tasks end), `UNAUTHORIZED` (the
 * administrator can't see past row-level security).
 */
export function eraseTenant(adminUrl: string, tenantId: string): Promise<TenantRows> {
  return asAdmin(adminUrl, async (client) => {
    const state = await requireTenant(client, tenantId);
    if (state === 'active') {
      throw new AppError(
        'TENANT_ACTIVE',
        `tenant "${tenantId}" is active: suspend it first (slate tenant suspend ${tenantId})`,
      );
    }
    await requireIdle(client, tenantId);
    await requireSight(client);
    const removed = await countRows(client, tenantId);
    await client.query(`SELECT set_config('cleanslate.erasing_tenant', 'yes', true)`);
    // Steps and schedules can't be found by task or tenant once those are gone; the tenant's own row goes last.
    for (const { table } of removed) await client.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    await client.query('DELETE FROM ledger.tenants WHERE tenant_id = $1', [tenantId]);
    return removed;
  });
}

async function requireTenant(client: pg.Client, tenantId: string): Promise<TenantState> {
  const { rows } = await client.query<{ state: TenantState }>(
    'SELECT state FROM ledger.tenants WHERE tenant_id = $1 FOR UPDATE',
    [tenantId],
  );
  const [tenant] = rows;
  if (tenant === undefined) throw new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
  return tenant.state;
}

/** A scheduler that is working on a task also holds it in memory. */
async function requireIdle(client: pg.Client, tenantId: string): Promise<void> {
  const { rows } = await client.query<{ unfinished: string }>(
    `SELECT count(*) AS unfinished FROM ledger.tasks WHERE tenant_id = $1 AND state NOT IN ('completed', 'failed')`,
    [tenantId],
  );
  const unfinished = Number(rows[0]?.unfinished ?? 0);
  if (unfinished === 0) return;
  throw new AppError(
    'TENANT_ACTIVE',
    `${unfinished} tasks of tenant "${tenantId}" are not finished: let them, or cancel them`,
  );
}

/** Under row-level security a delete that sees nothing removes nothing, silently. */
async function requireSight(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sees: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS sees FROM pg_roles WHERE rolname = current_user',
  );
  if (rows[0]?.sees) return;
  throw new AppError(
    'UNAUTHORIZED',
    'only a superuser, or a role with BYPASSRLS, can erase a tenant: set DATABASE_URL to one',
  );
}

/** Found in the catalogue, so that no later table is forgotten. */
async function countRows(client: pg.Client, tenantId: string): Promise<TenantRows> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('ledger', 'knowledge', 'auth') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attname = 'tenant_id' AND NOT a.attisdropped AND NOT (n.nspname = 'ledger' AND c.relname = 'tenants')
     ORDER BY name`,
  );
  const counted: { table: string; rows: number }[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${name} WHERE tenant_id = $1`, [
      tenantId,
    ]);
    const found = Number(rows[0]?.rows ?? 0);
    if (found > 0) counted.push({ table: name, rows: found });
  }
  return counted.sort((a, b) => b.rows - a.rows);
}
