import type { ErrorBody, JsonObject, TaskState, VerdictReason } from '@cleanslate/contracts';
import type { Aggregate, Failure, GateState, Phase, Purpose, Step, Task } from '@cleanslate/domain/ledger';
import { toPriority, toPriorityNumber } from '../priority.ts';

/** A row of `ledger.tasks` as the driver gives it. */
export type TaskRow = {
  task_seq: number;
  tenant_id: string;
  task_id: string;
  idempotency_key: string | null;
  body_hash: string;
  submit_id: string;
  workflow: string;
  plan_hash: string;
  state: TaskState;
  priority: number;
  round: number;
  round_base: number;
  input: JsonObject;
  result: unknown;
  error: ErrorBody | null;
  pin_valid_at: Date;
  pin_revision: number;
  deadline: Date;
  deadline_ms: number;
  traceparent: string | null;
  failing: Task['failing'];
  gate: GateState | null;
  forked_from: string | null;
  created_at: Date;
  updated_at: Date;
};

export type StepRow = {
  task_seq: number;
  step_id: string;
  plan_key: string;
  supersedes: string | null;
  role: string;
  executor: string;
  after: string[];
  state: TaskState;
  phase: Phase;
  round: number;
  attempt: number;
  spent: number;
  ring: number;
  silent_claims: number;
  claim_id: string | null;
  worker: string | null;
  beaten: boolean;
  applied: string[];
  due_at: Date | null;
  timeout_at: Date | null;
  queue_expires_at: Date | null;
  ready_at: Date | null;
  doorbell_seq: number | null;
  started_at: Date | null;
  ended_at: Date | null;
  output: JsonObject | null;
  input_edit: JsonObject | null;
  feedback: VerdictReason[] | null;
  error: ErrorBody | null;
  failures: Failure[];
  candidates: string[];
  replay_of: string | null;
  purpose: Purpose;
  tokens: number;
  copied_from: string | null;
};

export function fromTaskRow(row: TaskRow): Task {
  return {
    tenantId: row.tenant_id,
    taskId: row.task_id,
    idempotencyKey: row.idempotency_key,
    bodyHash: row.body_hash,
    submitId: row.submit_id,
    workflow: row.workflow,
    planHash: row.plan_hash,
    state: row.state,
    priority: toPriority(row.priority),
    round: row.round,
    roundBase: row.round_base,
    input: row.input,
    result: row.result,
    error: row.error,
    pin: { validAt: row.pin_valid_at.toISOString(), revision: row.pin_revision },
    deadline: row.deadline.getTime(),
    deadlineMs: row.deadline_ms,
    traceparent: row.traceparent,
    failing: row.failing,
    gate: row.gate,
    forkedFrom: row.forked_from,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}

export function fromStepRow(row: StepRow): Step {
  return {
    stepId: row.step_id,
    planKey: row.plan_key,
    supersedes: row.supersedes,
    role: row.role,
    executor: row.executor,
    after: row.after,
    state: row.state,
    phase: row.phase,
    round: row.round,
    attempt: row.attempt,
    spent: row.spent,
    ring: row.ring,
    silentClaims: row.silent_claims,
    claimId: row.claim_id,
    worker: row.worker,
    beaten: row.beaten,
    applied: row.applied,
    dueAt: row.due_at?.getTime() ?? null,
    timeoutAt: row.timeout_at?.getTime() ?? null,
    queueExpiresAt: row.queue_expires_at?.getTime() ?? null,
    readyAt: row.ready_at?.getTime() ?? null,
    doorbellSeq: row.doorbell_seq,
    startedAt: row.started_at?.getTime() ?? null,
    endedAt: row.ended_at?.getTime() ?? null,
    output: row.output,
    inputEdit: row.input_edit,
    feedback: row.feedback,
    error: row.error,
    failures: row.failures,
    candidates: row.candidates,
    replayOf: row.replay_of,
    purpose: row.purpose,
    tokens: row.tokens,
    copiedFrom: row.copied_from,
  };
}

/** As `json_to_recordset` reads it; keys are the columns' names. */
export function toStepRecord(taskSeq: number, task: Task, ordinal: number, step: Step): Record<string, unknown> {
  return {
    task_seq: taskSeq,
    step_id: step.stepId,
    ordinal,
    tenant_id: task.tenantId,
    workflow: task.workflow,
    priority: toPriorityNumber(task.priority),
    plan_key: step.planKey,
    supersedes: step.supersedes,
    role: step.role,
    executor: step.executor,
    after: step.after,
    round: step.round,
    feedback: step.feedback,
    purpose: step.purpose,
    copied_from: step.copiedFrom,
    ...toMutableStep(step),
  };
}

/** What changes over a step's life. */
export function toMutableStep(step: Step): Record<string, unknown> {
  return {
    state: step.state,
    phase: step.phase,
    attempt: step.attempt,
    spent: step.spent,
    ring: step.ring,
    silent_claims: step.silentClaims,
    claim_id: step.claimId,
    worker: step.worker,
    beaten: step.beaten,
    applied: step.applied,
    due_at: iso(step.dueAt),
    timeout_at: iso(step.timeoutAt),
    queue_expires_at: iso(step.queueExpiresAt),
    ready_at: iso(step.readyAt),
    doorbell_seq: step.doorbellSeq,
    started_at: iso(step.startedAt),
    ended_at: iso(step.endedAt),
    output: step.output,
    input_edit: step.inputEdit ?? null,
    error: step.error,
    failures: step.failures,
    candidates: step.candidates,
    replay_of: step.replayOf,
    tokens: step.tokens,
  };
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

export type TaskKey = {
  readonly tenantId: string;
  readonly taskId: string;
  /** What `keyOf` says, where it is asked for many times. */
  readonly taskKey?: string;
};

export function keyOf({ tenantId, taskId, taskKey }: TaskKey): string {
  return taskKey ?? `${tenantId}/${taskId}`;
}

/** An aggregate with the key the tables know it by. */
export type StoredAggregate = {
  readonly taskSeq: number;
  readonly state: Aggregate;
  /** Of the rows it was read from, see `StateCache`. */
  readonly version?: string;
};
