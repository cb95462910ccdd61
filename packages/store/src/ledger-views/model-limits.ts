import { AppError, mismatch, TenantId } from '@cleanslate/contracts';
import type { CallLimit } from '@cleanslate/domain';
import pg from 'pg';

/** Changes of one scope; null removes a limit. */
export type ModelLimitChange = Pick<CallLimit, 'tenantId' | 'model'> & Partial<Omit<CallLimit, 'tenantId' | 'model'>>;

export type ModelLimitView = CallLimit & {
  /** Of today (UTC). */
  readonly used: { readonly requests: number; readonly tokens: number; readonly cost: number };
};

/**
 * Changes one scope's limits of model calls as an administrator, if a change is given, and returns all limits that are
 * set, with today's use of them. They apply from the next call on. Throws `SCHEMA_MISMATCH`, `UNKNOWN_TENANT`.
 */
export async function setModelLimits(adminUrl: string, change?: ModelLimitChange): Promise<ModelLimitView[]> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    if (change !== undefined) await write(client, change);
    const limits = await read(client);
    await client.query('COMMIT');
    return limits;
  } finally {
    await client.end();
  }
}

async function write(client: pg.Client, change: ModelLimitChange): Promise<void> {
  const { tenantId, model } = change;
  if (tenantId !== null) {
    const tenant = TenantId.safeParse(tenantId);
    if (!tenant.success) throw mismatch('tenant', tenant.error);
    const known = await client.query('SELECT FROM ledger.tenants WHERE tenant_id = $1 FOR SHARE', [tenantId]);
    if (known.rowCount === 0) throw new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
  }
  await client.query('INSERT INTO ledger.model_limits (tenant_id, model) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    tenantId,
    model,
  ]);
  const columns = { maxRequests: 'max_requests', tokensPerMinute: 'tokens_per_minute' } as const;
  const more = { tokensPerDay: 'tokens_per_day', costPerDay: 'cost_per_day' } as const;
  for (const [field, column] of Object.entries({ ...columns, ...more })) {
    const value = change[field as keyof typeof columns];
    if (value === undefined) continue;
    await client.query(
      `UPDATE ledger.model_limits SET ${column} = $3 WHERE tenant_id IS NOT DISTINCT FROM $1 AND model = $2`,
      [tenantId, model, value],
    );
  }
  await client.query(
    'DELETE FROM ledger.model_limits WHERE num_nonnulls(max_requests, tokens_per_minute, tokens_per_day, cost_per_day) = 0',
  );
}

async function read(client: pg.Client): Promise<ModelLimitView[]> {
  const { rows } = await client.query<
    ModelLimitView & { readonly requests: number; readonly tokens: number; readonly cost: number }
  >(
    `SELECT l.tenant_id AS "tenantId", l.model, l.max_requests AS "maxRequests", l.tokens_per_minute::float8 AS "tokensPerMinute",
       l.tokens_per_day::float8 AS "tokensPerDay", l.cost_per_day AS "costPerDay",
       s.requests::float8 AS requests, s.tokens::float8 AS tokens, s.cost
     FROM ledger.model_limits l CROSS JOIN LATERAL (
       SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost FROM ledger.model_spend
       WHERE day = (now() AT TIME ZONE 'UTC')::date AND (l.tenant_id IS NULL OR tenant_id = l.tenant_id) AND (l.model = '' OR model = l.model)) s
     ORDER BY l.tenant_id NULLS FIRST, l.model`,
  );
  return rows.map(({ requests, tokens, cost, ...limit }) => ({ ...limit, used: { requests, tokens, cost } }));
}
