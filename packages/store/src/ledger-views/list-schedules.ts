import type { MissedPolicy, OverlapPolicy, Priority, ScheduleView } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { toErrorBody, toTime } from './rows.ts';

type ScheduleRow = {
  schedule_id: string;
  tenant_id: string;
  workflow: string;
  input: ScheduleView['input'];
  cron: string;
  time_zone: string;
  overlap: OverlapPolicy;
  missed: MissedPolicy;
  backlog: number;
  deadline_ms: number | null;
  priority: Priority;
  enabled: boolean;
  next_due_at: Date | null;
  last_due_at: Date | null;
  last_task_id: string | null;
  waiting: number;
  runs: number;
  skipped: number;
  last_error: unknown;
  created_at: Date;
  updated_at: Date;
};

/** Schedules of the transaction's tenant, by id. */
export async function listSchedules(
  tx: Tx,
  query: { readonly limit?: number | undefined; readonly after?: string | undefined },
): Promise<{ schedules: ScheduleView[]; next: string | null }> {
  const limit = query.limit ?? 50;
  const { rows } = await tx.query<ScheduleRow>(
    `SELECT *, cardinality(waiting_runs) AS waiting FROM ledger.schedules
     WHERE tenant_id = current_setting('cleanslate.tenant') AND ($1::text IS NULL OR schedule_id > $1) ORDER BY schedule_id LIMIT $2`,
    [query.after ?? null, limit],
  );
  return {
    schedules: rows.map(toScheduleView),
    next: rows.length === limit ? (rows.at(-1)?.schedule_id ?? null) : null,
  };
}

function toScheduleView(row: ScheduleRow): ScheduleView {
  return {
    scheduleId: row.schedule_id,
    tenantId: row.tenant_id,
    workflow: row.workflow,
    input: row.input,
    cron: row.cron,
    timeZone: row.time_zone,
    overlap: row.overlap,
    missed: row.missed,
    backlog: row.backlog,
    deadlineMs: row.deadline_ms,
    priority: row.priority,
    enabled: row.enabled,
    nextDueAt: row.enabled ? toTime(row.next_due_at) : null,
    lastDueAt: toTime(row.last_due_at),
    lastTaskId: row.last_task_id,
    waiting: row.waiting,
    runs: row.runs,
    skipped: row.skipped,
    lastError: toErrorBody(row.last_error),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
