import { ErrorBody, type TaskState } from '@cleanslate/contracts';
import { toPriority } from '../priority.ts';

export type TaskRow = {
  readonly task_seq: number;
  readonly tenant_id: string;
  readonly task_id: string;
  readonly workflow: string;
  readonly state: TaskState;
  readonly priority: number;
  readonly round: number;
  readonly error: unknown;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deadline: Date;
};

export function toTaskSummary(row: TaskRow) {
  return {
    taskId: row.task_id,
    tenantId: row.tenant_id,
    workflow: row.workflow,
    state: row.state,
    priority: toPriority(row.priority),
    round: row.round,
    error: toErrorBody(row.error),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    deadline: row.deadline.toISOString(),
  };
}

/** A stored error; one that no longer has today's shape is shown, not thrown. */
export function toErrorBody(stored: unknown): ErrorBody | null {
  if (stored === null || stored === undefined) return null;
  const parsed = ErrorBody.safeParse(stored);
  if (parsed.success) return parsed.data;
  return { code: 'INTERNAL', disposition: 'terminal', message: JSON.stringify(stored).slice(0, 4_000) };
}

export function toTime(at: Date | null): string | null {
  return at === null ? null : at.toISOString();
}
