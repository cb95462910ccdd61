import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { ErrorBody } from './errors.ts';
import { JsonObject, Priority } from './fence.ts';
import { ScheduleId, TaskId, TenantId, UtcTime, WorkflowName } from './ids.ts';
import { MAX_DEADLINE_MS } from './messages/task-submit.ts';

/**
 * What happens if a run comes due while the one before it is still going: skip it, start it afterwards, or start it
 * instead (the old one is cancelled).
 */
export const OverlapPolicy = z.enum(['skip', 'queue', 'replace']);
export type OverlapPolicy = z.infer<typeof OverlapPolicy>;

/**
 * What happens to runs that came due while no scheduler was running: none is made up for, one for all of them, or each
 * of them, up to the newest `backlog`.
 */
export const MissedPolicy = z.enum(['skip', 'once', 'all']);
export type MissedPolicy = z.infer<typeof MissedPolicy>;

const run = {
  workflow: WorkflowName,
  input: JsonObject,
  /** Five fields, or six with seconds first: `30 6 * * 1-5`. */
  cron: z.string().min(1).max(200),
};

export const ScheduleView = z.strictObject({
  scheduleId: ScheduleId,
  tenantId: TenantId,
  ...run,
  timeZone: z.string(),
  overlap: OverlapPolicy,
  missed: MissedPolicy,
  backlog: z.int().positive(),
  deadlineMs: z.int().positive().nullable(),
  priority: Priority,
  enabled: z.boolean(),
  /** null: paused, or the rule names no time that ever comes. */
  nextDueAt: UtcTime.nullable(),
  lastDueAt: UtcTime.nullable(),
  lastTaskId: TaskId.nullable(),
  /** Runs that wait for an earlier one to end. */
  waiting: z.int().nonnegative(),
  runs: z.int().nonnegative(),
  skipped: z.int().nonnegative(),
  /** Why the last try started nothing; it will be tried again. */
  lastError: ErrorBody.nullable(),
  createdAt: UtcTime,
  updatedAt: UtcTime,
});
export type ScheduleView = z.infer<typeof ScheduleView>;

const one = z.strictObject({ scheduleId: ScheduleId });
const change = z.strictObject({ scheduleId: ScheduleId, changed: z.boolean(), nextDueAt: UtcTime.nullable() });

/** Creates or replaces a schedule. A new rule counts from now; the same rule keeps its next time. */
export const SchedulePut = defineEndpoint(
  { plane: 'ctl', noun: 'schedule', verb: 'put', servedBy: 'scheduler' },
  () =>
    z.strictObject({
      scheduleId: ScheduleId,
      ...run,
      /** IANA name; default `UTC`. */
      timeZone: z.string().min(1).max(64).optional(),
      /** Default `skip`. */
      overlap: OverlapPolicy.optional(),
      /** Default `once`. */
      missed: MissedPolicy.optional(),
      /** Most missed runs that are made up for, and most runs that may wait; default 10. */
      backlog: z.int().min(1).max(1_000).optional(),
      deadlineMs: z.int().min(100).max(MAX_DEADLINE_MS).optional(),
      priority: Priority.optional(),
    }),
  () => change,
);
export const ScheduleDelete = defineEndpoint(
  { plane: 'ctl', noun: 'schedule', verb: 'delete', servedBy: 'scheduler' },
  () => one,
  () => change,
);
/** No run starts until it is resumed; a current run goes on. */
export const SchedulePause = defineEndpoint(
  { plane: 'ctl', noun: 'schedule', verb: 'pause', servedBy: 'scheduler' },
  () => one,
  () => change,
);
/** Counts from now: runs that came due during the pause were not missed. */
export const ScheduleResume = defineEndpoint(
  { plane: 'ctl', noun: 'schedule', verb: 'resume', servedBy: 'scheduler' },
  () => one,
  () => change,
);
export const ScheduleList = defineEndpoint(
  { plane: 'qry', noun: 'schedule', verb: 'list', servedBy: 'gateway' },
  () => z.strictObject({ limit: z.int().min(1).max(500).optional(), after: ScheduleId.optional() }),
  () => z.strictObject({ schedules: z.array(ScheduleView), next: ScheduleId.nullable() }),
);
