import { AppError, mismatch, TenantId, WorkflowName } from '@cleanslate/contracts';
import pg from 'pg';

/** Steps of a tenant that may be dispatched or executing at once; null: no limit. 0 holds everything back. */
export type TenantLimits = {
  readonly maxRunning: number | null;
  readonly workflows: Readonly<Record<string, number>>;
};

/** The limits to change; null removes a limit. */
export type LimitChange = {
  readonly maxRunning?: number | null;
  readonly workflows?: Readonly<Record<string, number | null>>;
};

/**
 * Changes the named limits as an administrator, and returns those now set. Admission follows at its next look; running
 * steps are not stopped. Throws `SCHEMA_MISMATCH`, `UNKNOWN_TENANT`.
 */
export async function setTenantLimits(adminUrl: string, tenantId: string, change: LimitChange): Promise<TenantLimits> {
  const tenant = TenantId.safeParse(tenantId);
  if (!tenant.success) throw mismatch('tenant', tenant.error);
  const { maxRunning, workflows = {} } = change;
  for (const name of Object.keys(workflows)) {
    const workflow = WorkflowName.safeParse(name);
    if (!workflow.success) throw mismatch('workflow', workflow.error);
  }
  const changes = [...(maxRunning === undefined ? [] : [['', maxRunning] as const]), ...Object.entries(workflows)];
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN');
    const known = await client.query('SELECT FROM ledger.tenants WHERE tenant_id = $1 FOR SHARE', [tenantId]);
    if (known.rowCount === 0) throw new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
    for (const [workflow, limit] of changes) await writeLimit(client, tenantId, workflow, limit);
    const limits = await readLimits(client, tenantId);
    await client.query('COMMIT');
    return limits;
  } finally {
    await client.end();
  }
}

async function writeLimit(client: pg.Client, tenantId: string, workflow: string, limit: number | null): Promise<void> {
  if (limit === null) {
    await client.query('DELETE FROM ledger.limits WHERE tenant_id = $1 AND workflow = $2', [tenantId, workflow]);
    return;
  }
  await client.query(
    `INSERT INTO ledger.limits (tenant_id, workflow, max_running) VALUES ($1, $2, $3)
     ON CONFLICT (tenant_id, workflow) DO UPDATE SET max_running = excluded.max_running`,
    [tenantId, workflow, limit],
  );
}

async function readLimits(client: pg.Client, tenantId: string): Promise<TenantLimits> {
  const { rows } = await client.query<{ workflow: string; max_running: number }>(
    'SELECT workflow, max_running FROM ledger.limits WHERE tenant_id = $1 ORDER BY workflow',
    [tenantId],
  );
  return {
    maxRunning: rows.find((row) => row.workflow === '')?.max_running ?? null,
    workflows: Object.fromEntries(
      rows.filter((row) => row.workflow !== '').map((row) => [row.workflow, row.max_running]),
    ),
  };
}
