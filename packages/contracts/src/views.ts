import { z } from 'zod';
import { ErrorBody } from './errors.ts';
import { JsonObject, Pin, Priority, TaskState } from './fence.ts';
import { ExecutorName, RoleName, Sha256, StepId, TaskId, TenantId, UtcTime, WorkflowName } from './ids.ts';
import { FactMark } from './knowledge.ts';

/** Answers to queries. Read models: fields may be added, and never change their meaning. */
export const StepView = z.strictObject({
  stepId: StepId,
  role: RoleName,
  executor: ExecutorName,
  state: TaskState,
  /** Finer than the state: `blocked, ready, dispatched, executing, backing_off, done, failed`. */
  phase: z.string(),
  round: z.int().positive(),
  attempt: z.int().nonnegative(),
  spent: z.int().nonnegative(),
  worker: z.string().nullable(),
  error: ErrorBody.nullable(),
  dueAt: UtcTime.nullable(),
  startedAt: UtcTime.nullable(),
  endedAt: UtcTime.nullable(),
});
export type StepView = z.infer<typeof StepView>;

export const TaskSummary = z.strictObject({
  taskId: TaskId,
  tenantId: TenantId,
  workflow: WorkflowName,
  state: TaskState,
  priority: Priority,
  round: z.int().positive(),
  error: ErrorBody.nullable(),
  createdAt: UtcTime,
  updatedAt: UtcTime,
  deadline: UtcTime,
});
export type TaskSummary = z.infer<typeof TaskSummary>;

/** What a person is, or was, asked about. */
export const GateView = z.strictObject({
  stepId: StepId,
  sha256: Sha256,
  openedAt: UtcTime,
  expiresAt: UtcTime,
  onExpiry: z.enum(['reject', 'approve']),
  /** Null while it is open. */
  decision: z.enum(['approved', 'rejected', 'edited']).nullable(),
  by: z.enum(['person', 'expiry']).nullable(),
  decidedAt: UtcTime.nullable(),
  /** While it is open: the result that waits, exactly as it was hashed. */
  result: z.unknown(),
});
export type GateView = z.infer<typeof GateView>;

/** What a task used of one model, including attempts that came to nothing. */
export const ModelUsageView = z.strictObject({
  model: z.string(),
  /** HTTP requests. */
  requests: z.int().nonnegative(),
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  /** In the unit of the prices that the workers were configured with; null if none are. */
  cost: z.number().nonnegative().nullable(),
});
export type ModelUsageView = z.infer<typeof ModelUsageView>;

export const TaskView = z.strictObject({
  ...TaskSummary.shape,
  key: z.string().nullable(),
  planHash: z.string(),
  pin: Pin,
  input: JsonObject,
  result: z.unknown().nullable(),
  steps: z.array(StepView),
  gate: GateView.optional(),
  /** While completed steps are undone: the error that the task will fail with. */
  failing: ErrorBody.optional(),
  forkedFrom: TaskId.optional(),
  /** Of a completed task: the grounds of its result that no longer stand; left out if all of them do. */
  marks: z.array(FactMark).optional(),
  /** Left out if no model was asked. */
  usage: z.array(ModelUsageView).optional(),
});
export type TaskView = z.infer<typeof TaskView>;

/** A watcher's place: it has seen everything up to and including `position`. `0` is before the first event. */
export const Cursor = z.strictObject({ epoch: z.int().positive(), position: z.int().nonnegative() });
export type Cursor = z.infer<typeof Cursor>;

export const DeadLetterSummary = z.strictObject({
  letterId: z.string(),
  tenantId: TenantId.nullable(),
  taskId: TaskId.nullable(),
  stepId: StepId.nullable(),
  attempt: z.int().nullable(),
  role: z.string().nullable(),
  workflow: z.string().nullable(),
  reason: z.string(),
  message: z.string(),
  status: z.enum(['open', 'replaying', 'closed', 'discarded']),
  replays: z.int().nonnegative(),
  firstFailedAt: UtcTime,
  lastFailedAt: UtcTime,
  /** Bulk replays failed three times: they leave it alone until a person has looked. */
  needsHuman: z.boolean().optional(),
  /** How the last replay ended. */
  outcome: z.enum(['succeeded', 'failed_again']).nullable().optional(),
  /** The letter whose replay this failure was, and the first letter of this history. */
  replayOf: z.string().nullable().optional(),
  lineage: z.string().optional(),
});
export type DeadLetterSummary = z.infer<typeof DeadLetterSummary>;

export const DeadLetterView = z.strictObject({
  ...DeadLetterSummary.shape,
  stream: z.string().nullable(),
  subject: z.string().nullable(),
  /** For a message: the durable that could not read it. */
  consumer: z.string().nullable().optional(),
  headers: z.record(z.string(), z.array(z.string())),
  /** Base64 of the original bytes. */
  body: z.string().nullable(),
  /** Base64 of what the last replay used instead. */
  edited: z.string().nullable().optional(),
  error: ErrorBody,
  /** Every failed attempt of the step, oldest first, and every replay. */
  history: z.array(
    z.strictObject({ at: UtcTime, attempt: z.int().nullable(), what: z.string(), error: ErrorBody.nullable() }),
  ),
});
export type DeadLetterView = z.infer<typeof DeadLetterView>;
