import { BUILT_IN_ROLES, mismatch, RoleName } from '@cleanslate/contracts';
import type pg from 'pg';
import { asAdmin } from '../admin.ts';

export type RoleSummary = {
  readonly role: string;
  readonly builtIn: boolean;
  readonly workers: number;
  readonly slots: number;
  readonly freeSlots: number;
  readonly waitingSteps: number;
  /** Workflows that its workers registered. */
  readonly workflows: readonly string[];
};

/** Built-in roles first, then the added ones, oldest first; with the workers that were heard from lately. */
export async function listRoles(adminUrl: string): Promise<RoleSummary[]> {
  return asAdmin(adminUrl, async (client) => {
    const added = await client.query<{ role: string }>('SELECT role FROM auth.roles ORDER BY created_at, role');
    const roles = [...BUILT_IN_ROLES, ...added.rows.map((row) => row.role)];
    const summaries: RoleSummary[] = [];
    for (const role of roles) summaries.push(await summarize(client, role));
    return summaries;
  });
}

async function summarize(client: pg.Client, role: string): Promise<RoleSummary> {
  const { rows } = await client.query<{ workers: number; slots: number; free: number; workflows: string[] }>(
    `SELECT count(*)::int AS workers, coalesce(sum(slots), 0)::int AS slots, coalesce(sum(free), 0)::int AS free,
       ARRAY(SELECT workflow FROM ledger.workflows WHERE role = $1 ORDER BY workflow) AS workflows
     FROM ledger.workers WHERE role = $1`,
    [role],
  );
  const { workers = 0, slots = 0, free: freeSlots = 0, workflows = [] } = rows[0] ?? {};
  const builtIn = BUILT_IN_ROLES.some((known) => known === role);
  return { role, builtIn, workers, slots, freeSlots, waitingSteps: await countWaiting(client, role), workflows };
}

/** False if it exists already, built in or added. Throws `SCHEMA_MISMATCH`. */
export async function addRole(adminUrl: string, role: string): Promise<boolean> {
  const parsed = RoleName.safeParse(role);
  if (!parsed.success) throw mismatch('role', parsed.error);
  if (BUILT_IN_ROLES.some((builtIn) => builtIn === role)) return false;
  return asAdmin(adminUrl, async (client) => {
    const { rowCount } = await client.query('INSERT INTO auth.roles (role) VALUES ($1) ON CONFLICT DO NOTHING', [role]);
    return rowCount === 1;
  });
}

export type RemovedRole = {
  readonly known: boolean;
  /** Workflows that its workers had registered: nobody can submit them any more. */
  readonly workflows: readonly string[];
  /** Steps that wait for a worker of this role; nothing is removed while there are any. */
  readonly waitingSteps: number;
};

/** Removes a role nobody waits for, and its workflows. */
export async function removeRole(adminUrl: string, role: string): Promise<RemovedRole> {
  return asAdmin(adminUrl, async (client) => {
    const known = await client.query('SELECT FROM auth.roles WHERE role = $1 FOR UPDATE', [role]);
    const waitingSteps = await countWaiting(client, role);
    if (known.rowCount === 0 || waitingSteps > 0) return { known: known.rowCount === 1, workflows: [], waitingSteps };
    const { rows } = await client.query<{ workflow: string }>(
      'DELETE FROM ledger.workflows WHERE role = $1 RETURNING workflow',
      [role],
    );
    await client.query('DELETE FROM auth.roles WHERE role = $1', [role]);
    return { known: true, workflows: rows.map((row) => row.workflow).sort(), waitingSteps };
  });
}

async function countWaiting(client: pg.Client, role: string): Promise<number> {
  const { rows } = await client.query<{ waiting: string }>(
    `SELECT count(*) AS waiting FROM ledger.steps
     WHERE role = $1 AND phase IN ('ready', 'dispatched', 'executing', 'backing_off') AND look_at IS NOT NULL`,
    [role],
  );
  return Number(rows[0]?.waiting ?? 0);
}
