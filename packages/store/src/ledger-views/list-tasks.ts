import type { TaskState, TaskSummary } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { toConditions } from './conditions.ts';
import { parsePageToken, toPageToken } from './page-token.ts';
import { type TaskRow, toTaskSummary } from './rows.ts';

export type TaskQuery = {
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
  readonly state?: TaskState | undefined;
  readonly workflow?: string | undefined;
};

/** Tasks of the transaction's tenant, newest first. */
export async function listTasks(tx: Tx, query: TaskQuery): Promise<{ tasks: TaskSummary[]; next: string | null }> {
  const limit = query.limit ?? 50;
  const before = query.before === undefined ? undefined : parsePageToken(query.before, /^[0-9]{1,18}$/);
  const isCompleted = query.state === 'completed';
  const { sql, values } = toConditions([
    // Nearly all are, so that a page of them is found by walking; the others have an index of their own.
    ['state = ?', isCompleted ? query.state : undefined],
    ["state = ? AND state <> 'completed'", isCompleted ? undefined : query.state],
    ['workflow = ?', query.workflow],
    ['(created_at, task_seq) < (?::timestamptz, ?::bigint)', before?.at, before?.id],
  ]);
  const { rows } = await tx.query<TaskRow & { created_text: string }>(
    `SELECT task_seq, tenant_id, task_id, workflow, state, priority, round, error, deadline, created_at, updated_at,
            created_at::text AS created_text
     FROM ledger.tasks
     WHERE tenant_id = current_setting('cleanslate.tenant')${sql}
     ORDER BY created_at DESC, task_seq DESC LIMIT $${values.length + 1}`,
    [...values, limit],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return {
    tasks: rows.map(toTaskSummary),
    next: last ? toPageToken({ at: last.created_text, id: String(last.task_seq) }) : null,
  };
}
