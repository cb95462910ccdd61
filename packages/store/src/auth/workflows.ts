import { asAdmin } from '../admin.ts';

export type WorkflowSummary = {
  readonly workflow: string;
  /** The role whose workers brought it. */
  readonly role: string;
  readonly steps: number;
  readonly registeredAt: string;
  /** Of all tenants, in this version of its plan or an earlier one. */
  readonly unfinishedTasks: number;
  readonly schedules: number;
};

/** Workflows that workers brought, by name. The built-in ones are no rows: each scheduler has them. */
export async function listWorkflows(adminUrl: string): Promise<WorkflowSummary[]> {
  return asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{
      workflow: string;
      role: string;
      steps: number;
      registered_at: Date;
      unfinished: number;
      schedules: number;
    }>(
      `SELECT workflow, role, coalesce(json_array_length(plan -> 'steps'), 0) AS steps, registered_at,
              (SELECT count(*)::int FROM ledger.tasks t WHERE t.workflow = w.workflow AND t.state NOT IN ('completed', 'failed')) AS unfinished,
              (SELECT count(*)::int FROM ledger.schedules s WHERE s.workflow = w.workflow) AS schedules
       FROM ledger.workflows w ORDER BY workflow`,
    );
    return rows.map((row) => ({
      workflow: row.workflow,
      role: row.role,
      steps: row.steps,
      registeredAt: row.registered_at.toISOString(),
      unfinishedTasks: row.unfinished,
      schedules: row.schedules,
    }));
  });
}

export type RemovedWorkflow = {
  /** Whose it was; undefined: no worker brought a workflow of this name. */
  readonly role: string | undefined;
  /** Workers of that role that are there: they bring it again whenever they start. */
  readonly workers: number;
  /** Schedules that name it; nothing is removed while there are any. */
  readonly schedules: number;
};

/** Nobody can submit it any more, as soon as the schedulers have looked again; tasks under way keep their plan. */
export async function removeWorkflow(adminUrl: string, workflow: string): Promise<RemovedWorkflow> {
  return asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{ role: string; workers: number; schedules: number }>(
      `SELECT role,
              (SELECT count(*)::int FROM ledger.workers k WHERE k.role = w.role) AS workers,
              (SELECT count(*)::int FROM ledger.schedules s WHERE s.workflow = w.workflow) AS schedules
       FROM ledger.workflows w WHERE workflow = $1 FOR UPDATE`,
      [workflow],
    );
    const [found] = rows;
    if (found === undefined) return { role: undefined, workers: 0, schedules: 0 };
    if (found.schedules === 0) await client.query('DELETE FROM ledger.workflows WHERE workflow = $1', [workflow]);
    return found;
  });
}
