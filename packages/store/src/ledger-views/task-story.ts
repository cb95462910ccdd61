import { AppError, TaskState, type TaskStory, type Transition, type ValueOf } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

/** Newest of each kind: a task that was retried for weeks must still fit into one answer. */
const MOST = 1_000;

type TransitionRow = {
  readonly at: Date;
  readonly step_id: string | null;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly trigger: string;
  readonly attempt: number | null;
  readonly spent: number | null;
  readonly round: number | null;
  readonly worker: string | null;
  readonly code: string | null;
};
type RefusalRow = {
  readonly at: Date;
  readonly step_id: string | null;
  readonly attempt: number | null;
  readonly code: string;
  readonly detail: string;
};
type RepairRow = { readonly at: Date; readonly step_id: string | null; readonly what: string; readonly detail: string };

/** What happened to a task of the transaction's tenant, oldest first. Throws `NOT_FOUND`. */
export async function findTaskStory(tx: Tx, taskId: string): Promise<ValueOf<typeof TaskStory>> {
  const given = [taskId, MOST];
  const [transitions, refusals, repairs] = await Promise.all([
    tx.query<TransitionRow>('SELECT * FROM ledger.task_transitions($1, $2)', given),
    tx.query<RefusalRow>('SELECT * FROM ledger.task_refusals($1, $2)', given),
    tx.query<RepairRow>('SELECT * FROM ledger.task_repairs($1, $2)', given),
  ]);
  // Its acceptance is the first.
  if (transitions.rows.length === 0)
    throw new AppError('NOT_FOUND', `no task ${taskId}: \`slate task list\` shows the ids`);
  return {
    taskId,
    transitions: transitions.rows.reverse().map(toTransition),
    refusals: refusals.rows.reverse().map((row) => ({
      at: row.at.toISOString(),
      stepId: row.step_id,
      attempt: row.attempt,
      code: row.code,
      detail: row.detail,
    })),
    repairs: repairs.rows.reverse().map((row) => ({
      at: row.at.toISOString(),
      stepId: row.step_id,
      what: row.what,
      detail: row.detail,
    })),
  };
}

function toTransition(row: TransitionRow): Transition {
  return {
    at: row.at.toISOString(),
    stepId: row.step_id,
    from: TaskState.nullable().parse(row.from_state),
    to: TaskState.parse(row.to_state),
    on: row.trigger,
    attempt: row.attempt,
    spent: row.spent,
    round: row.round,
    worker: row.worker,
    code: row.code,
  };
}
