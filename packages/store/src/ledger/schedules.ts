import type { ErrorBody, JsonObject, MissedPolicy, OverlapPolicy, Priority } from '@cleanslate/contracts';
import type { ScheduleDecision, ScheduleState } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';

export type ScheduleKey = { readonly tenantId: string; readonly scheduleId: string };

/** What a tenant may say about a schedule. */
export type ScheduleSettings = ScheduleKey & {
  readonly workflow: string;
  readonly input: JsonObject;
  readonly cron: string;
  readonly timeZone: string;
  readonly overlap: OverlapPolicy;
  readonly missed: MissedPolicy;
  readonly backlog: number;
  readonly deadlineMs: number | null;
  readonly priority: Priority;
};

/** A schedule in which something is to be decided, locked to the end of the transaction. */
export type DueSchedule = ScheduleSettings &
  ScheduleState & { readonly scheduleSeq: number; readonly lastTaskId: string | null; readonly now: number };

/**
 * Several tries before a run counts as missed: what could not be accepted for a moment must not be lost
 * where missed runs are skipped.
 */
const RETRY_SECONDS = 10;

/** A suspended tenant's due times wait; when it is resumed, the schedule's policy for missed runs decides. */
const IS_ACTIVE = `EXISTS (SELECT FROM ledger.tenants n WHERE n.tenant_id = s.tenant_id AND n.state = 'active')`;
const IS_DUE = `s.enabled AND (s.retry_at IS NULL OR s.retry_at <= now()) AND ${IS_ACTIVE}`;
const FREE_RUNS = `NOT EXISTS (SELECT FROM ledger.tasks t WHERE t.tenant_id = s.tenant_id AND t.task_id = s.last_task_id AND t.state NOT IN ('completed', 'failed'))`;
const DUE = `(${IS_DUE} AND s.next_due_at <= now()) OR (${IS_DUE} AND s.waiting_runs <> '{}' AND ${FREE_RUNS})`;

export async function hasDueSchedules(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ due: boolean }>(
    `SELECT EXISTS (SELECT FROM ledger.schedules s WHERE ${IS_DUE} AND s.next_due_at <= now())
       OR EXISTS (SELECT FROM ledger.schedules s WHERE ${IS_DUE} AND s.waiting_runs <> '{}' AND ${FREE_RUNS}) AS due`,
  );
  return rows[0]?.due === true;
}

/** Due schedules, locked; those that another scheduler decides on right now are left to it. */
export async function takeDueSchedules(tx: Tx, limit: number): Promise<readonly DueSchedule[]> {
  const { rows } = await tx.query<Omit<DueSchedule, 'waitingRuns'> & { waitingRuns: readonly Date[] }>(
    `SELECT s.schedule_seq AS "scheduleSeq", s.tenant_id AS "tenantId", s.schedule_id AS "scheduleId", s.workflow, s.input, s.cron, s.time_zone AS "timeZone",
       s.overlap, s.missed, s.backlog, s.deadline_ms AS "deadlineMs", s.priority, (extract(epoch FROM s.next_due_at) * 1000)::int8 AS "nextDueAt",
       s.waiting_runs AS "waitingRuns", s.last_task_id AS "lastTaskId", NOT ${FREE_RUNS} AS "isRunning", (extract(epoch FROM now()) * 1000)::int8 AS now
     FROM ledger.schedules s WHERE ${DUE} ORDER BY s.next_due_at LIMIT $1 FOR UPDATE OF s SKIP LOCKED`,
    [limit],
  );
  return rows.map((row) => ({ ...row, waitingRuns: row.waitingRuns.map((at) => at.getTime()) }));
}

/**
 * What was decided about a schedule, with the task of the run that starts. Where none does, what kept the last one
 * from starting is still told.
 */
export async function saveDecision(
  tx: Tx,
  { scheduleSeq }: DueSchedule,
  decision: ScheduleDecision,
  taskId: string | null,
): Promise<void> {
  await tx.query(
    `UPDATE ledger.schedules SET next_due_at = to_timestamp($2 / 1000.0), waiting_runs = $3::timestamptz[], skipped = skipped + $4, runs = runs + $5,
       last_task_id = coalesce($6, last_task_id), last_due_at = coalesce(to_timestamp($7 / 1000.0), last_due_at), last_error = CASE WHEN $6 IS NULL THEN last_error END, retry_at = NULL, updated_at = now()
     WHERE schedule_seq = $1`,
    [
      scheduleSeq,
      decision.nextDueAt,
      decision.waitingRuns.map((at) => new Date(at)),
      decision.skipped,
      taskId === null ? 0 : 1,
      taskId,
      taskId === null ? null : decision.start,
    ],
  );
}

/** Nothing is decided: the due time stays, and is tried again. */
export async function saveScheduleFault(tx: Tx, { scheduleSeq }: DueSchedule, error: ErrorBody): Promise<void> {
  await tx.query(
    `UPDATE ledger.schedules SET last_error = $2, retry_at = now() + make_interval(secs => $3), updated_at = now() WHERE schedule_seq = $1`,
    [scheduleSeq, JSON.stringify(error), RETRY_SECONDS],
  );
}

/**
 * `nextDueAt`: the first time after `now` of a rule that is new or changed. Returns the next due time that holds now.
 */
export async function putSchedule(tx: Tx, settings: ScheduleSettings, nextDueAt: number | null): Promise<Date | null> {
  const { rows } = await tx.query<{ next_due_at: Date | null }>(
    `INSERT INTO ledger.schedules AS s (tenant_id, schedule_id, workflow, input, cron, time_zone, overlap, missed, backlog, deadline_ms, priority, next_due_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, to_timestamp($12 / 1000.0))
     ON CONFLICT (tenant_id, schedule_id) DO UPDATE SET workflow = excluded.workflow, input = excluded.input, cron = excluded.cron, time_zone = excluded.time_zone,
       overlap = excluded.overlap, missed = excluded.missed, backlog = excluded.backlog, deadline_ms = excluded.deadline_ms, priority = excluded.priority,
       next_due_at = CASE WHEN (s.cron, s.time_zone) = (excluded.cron, excluded.time_zone) THEN s.next_due_at ELSE excluded.next_due_at END,
       last_error = NULL, retry_at = NULL, updated_at = now()
     RETURNING next_due_at`,
    [
      settings.tenantId,
      settings.scheduleId,
      settings.workflow,
      JSON.stringify(settings.input),
      settings.cron,
      settings.timeZone,
      settings.overlap,
      settings.missed,
      settings.backlog,
      settings.deadlineMs,
      settings.priority,
      nextDueAt,
    ],
  );
  return rows[0]?.next_due_at ?? null;
}

export async function deleteSchedule(tx: Tx, { tenantId, scheduleId }: ScheduleKey): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM ledger.schedules WHERE tenant_id = $1 AND schedule_id = $2', [
    tenantId,
    scheduleId,
  ]);
  return rowCount === 1;
}

/** The rule and switch of a schedule, locked. */
export async function findScheduleForUpdate(
  tx: Tx,
  { tenantId, scheduleId }: ScheduleKey,
): Promise<{ cron: string; timeZone: string; enabled: boolean; nextDueAt: Date | null; now: number } | undefined> {
  const { rows } = await tx.query<{
    cron: string;
    timeZone: string;
    enabled: boolean;
    nextDueAt: Date | null;
    now: number;
  }>(
    `SELECT cron, time_zone AS "timeZone", enabled, next_due_at AS "nextDueAt", (extract(epoch FROM now()) * 1000)::int8 AS now
     FROM ledger.schedules WHERE tenant_id = $1 AND schedule_id = $2 FOR UPDATE`,
    [tenantId, scheduleId],
  );
  return rows[0];
}

export async function switchSchedule(
  tx: Tx,
  { tenantId, scheduleId }: ScheduleKey,
  enabled: boolean,
  nextDueAt: number | null,
): Promise<void> {
  await tx.query(
    `UPDATE ledger.schedules SET enabled = $3, next_due_at = to_timestamp($4 / 1000.0), retry_at = NULL, updated_at = now() WHERE tenant_id = $1 AND schedule_id = $2`,
    [tenantId, scheduleId, enabled, nextDueAt],
  );
}
