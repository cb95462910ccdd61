import type { Plan } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

export type RegisteredWorkflow = {
  readonly workflow: string;
  /** The role whose workers registered it. */
  readonly role: string;
  readonly planHash: string;
  readonly plan: Plan;
};

/** Workflows that workers registered. */
export async function findWorkflows(tx: Tx): Promise<RegisteredWorkflow[]> {
  const { rows } = await tx.query<{ workflow: string; role: string; plan_hash: string; plan: Plan }>(
    'SELECT workflow, role, plan_hash, plan FROM ledger.workflows ORDER BY workflow',
  );
  return rows.map((row) => ({ workflow: row.workflow, role: row.role, planHash: row.plan_hash, plan: row.plan }));
}

/**
 * Stores a workflow as that role's. Resolves to the role that owns the name, which may be another: then nothing is
 * changed.
 */
export async function putWorkflow(tx: Tx, { workflow, role, planHash, plan }: RegisteredWorkflow): Promise<string> {
  const { rows } = await tx.query<{ role: string }>(
    `INSERT INTO ledger.workflows AS w (workflow, role, plan_hash, plan) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workflow) DO UPDATE SET
       plan_hash = CASE WHEN w.role = excluded.role THEN excluded.plan_hash ELSE w.plan_hash END,
       plan = CASE WHEN w.role = excluded.role THEN excluded.plan ELSE w.plan END,
       registered_at = CASE WHEN w.role = excluded.role THEN now() ELSE w.registered_at END
     RETURNING role`,
    [workflow, role, planHash, JSON.stringify(plan)],
  );
  return rows[0]?.role ?? role;
}
