import { FactMark, type TaskView } from '@cleanslate/contracts';
import type { GateState, Task } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { toFailing, toGateView } from './gate.ts';
import { findModelUsage } from './model-usage.ts';
import { type TaskRow, toTaskSummary } from './rows.ts';
import { STEP_COLUMNS, type StepRow, toStepView } from './task-steps.ts';

type FullTaskRow = TaskRow & {
  readonly idempotency_key: string | null;
  readonly plan_hash: string;
  readonly pin_valid_at: Date;
  readonly pin_revision: number;
  readonly input: Record<string, unknown>;
  readonly result: unknown;
  readonly gate: GateState | null;
  readonly failing: Task['failing'];
  readonly forked_from: string | null;
};

/** A task of the transaction's tenant with its steps, in the order in which they were added. */
export async function findTaskView(tx: Tx, taskId: string): Promise<TaskView | undefined> {
  const { rows } = await tx.query<FullTaskRow>(
    `SELECT task_seq, tenant_id, task_id, idempotency_key, workflow, plan_hash, state, priority, round, input, result, error,
            pin_valid_at, pin_revision, deadline, created_at, updated_at, gate, failing, forked_from
     FROM ledger.tasks WHERE tenant_id = current_setting('cleanslate.tenant') AND task_id = $1`,
    [taskId],
  );
  const [task] = rows;
  if (task === undefined) return undefined;
  const steps = await tx.query<StepRow>(
    `SELECT ${STEP_COLUMNS} FROM ledger.steps WHERE task_seq = $1 ORDER BY ordinal`,
    [task.task_seq],
  );
  return {
    ...toTaskSummary(task),
    key: task.idempotency_key,
    planHash: task.plan_hash,
    pin: { validAt: task.pin_valid_at.toISOString(), revision: task.pin_revision },
    input: task.input,
    result: task.result ?? null,
    steps: steps.rows.map(toStepView),
    ...toGateView(task.gate),
    ...toFailing(task.failing),
    ...(task.forked_from === null ? {} : { forkedFrom: task.forked_from }),
    ...(await findUsage(tx, taskId)),
    ...(task.state === 'completed' ? await findAnswerMarks(tx, taskId) : {}),
  };
}

async function findUsage(tx: Tx, taskId: string): Promise<Pick<TaskView, 'usage'>> {
  const usage = await findModelUsage(tx, taskId);
  return usage.length === 0 ? {} : { usage };
}

/** Grounds of the answer that no longer stand. */
async function findAnswerMarks(tx: Tx, taskId: string): Promise<Pick<TaskView, 'marks'>> {
  const { rows } = await tx.query(
    `SELECT cause_id || '@' || cause_version AS cause, cause AS kind, lower(revisions) AS since FROM knowledge.marks
     WHERE tenant_id = current_setting('cleanslate.tenant') AND downstream_kind = 'answer' AND downstream_id = $1 AND upper_inf(revisions)
     ORDER BY cause_id, cause_version`,
    [taskId],
  );
  return rows.length === 0 ? {} : { marks: rows.map((row) => FactMark.parse(row)) };
}
