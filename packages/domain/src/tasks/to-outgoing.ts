import {
  ClaimAbort,
  type Envelope,
  type EnvelopeAttributes,
  type ErrorBody,
  HEADERS,
  type MessageDefinition,
  StepRun,
  StepTransitioned,
  SubmitRefused,
  subjects,
  TaskAccepted,
  TaskGateOpened,
  TaskTransitioned,
  toAttemptHeaders,
  toEnvelope,
} from '@cleanslate/contracts';
import type { Change } from './decision.ts';
import { buildInput } from './mapping.ts';
import { type Aggregate, findStep, type GateState, type Step, type Task } from './state.ts';

/** A doorbell: all that it says is in its step's row, so it is built when it is sent, and can be built again. */
export type OutgoingCommand = {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly messageId: string;
  readonly envelope: Envelope;
  readonly stepId: string;
  readonly attempt: number;
  readonly ring: number;
};

/**
 * What leaves the ledger with a commit beside doorbells. An event is a row of its own until it is published; an
 * abort is a lossy core message.
 */
export type Outgoing =
  | {
      readonly kind: 'event';
      readonly tenantId: string;
      readonly taskId: string;
      readonly envelope: Envelope;
      /** Of the task; travels in a header. */
      readonly traceparent: string | null;
    }
  | { readonly kind: 'abort'; readonly subject: string; readonly envelope: Envelope };

export type OutgoingEvent = Extract<Outgoing, { kind: 'event' }>;

/** A row of the ledger's transitions. */
export type TransitionRecord = {
  readonly stepId: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly trigger: string;
  readonly attempt: number | null;
  readonly spent: number | null;
  readonly round: number;
  readonly claimId: string | null;
  readonly worker: string | null;
  readonly code: string | null;
};

export type OutgoingContext = {
  /** When the ledger decided, as messages tell it. */
  readonly time: string;
  readonly newId: () => string;
};

type About = Pick<EnvelopeAttributes, 'stepid' | 'attempt' | 'claimid' | 'causationid' | 'epoch'>;

/** A message of a task. */
function toMessage(
  definition: MessageDefinition,
  { tenantId, taskId }: Pick<Task, 'tenantId' | 'taskId'>,
  { newId, time }: OutgoingContext,
  { stepid, attempt, claimid, causationid, epoch }: About,
  data: unknown,
): Envelope {
  const source = '/services/scheduler';
  return toEnvelope(
    definition,
    { id: newId(), source, time, tenantid: tenantId, taskid: taskId, stepid, attempt, claimid, causationid, epoch },
    data,
  );
}

/** The step whose doorbell rings with a change. */
export function findRung({ event, before, after }: Change): Step | undefined {
  if (event.kind !== 'step_dispatched' && event.kind !== 'step_rung') return undefined;
  const hangs = event.kind === 'step_rung' && findStep(before, event.stepId)?.ring === event.ring;
  return hangs ? undefined : findStep(after, event.stepId);
}

/**
 * The messages that a change implies, doorbells apart. No event for what another event implies: that a step
 * started is progress, not an event.
 */
export function toOutgoing(change: Change, context: OutgoingContext): readonly Outgoing[] {
  const { event, after } = change;
  switch (event.kind) {
    case 'task_accepted':
      return [taskEvent(after, context, TaskAccepted, acceptedData(after, false), after.task.submitId)];
    case 'task_started':
    case 'task_validating':
    case 'task_reworked':
    case 'task_completed':
    case 'task_failed':
    case 'task_reopened':
    case 'task_resumed':
      return [taskTransitioned(change, context)];
    case 'task_compensating':
      return hasMoved(change) ? [taskTransitioned(change, context)] : [];
    case 'gate_opened':
      return [...(hasMoved(change) ? [taskTransitioned(change, context)] : []), gateOpened(after, event.gate, context)];
    case 'step_released':
      return abort(change, event.stepId, context);
    case 'step_succeeded':
    case 'step_backed_off':
    case 'step_failed':
      return stepTransitioned(change, event.stepId, context).concat(abort(change, event.stepId, context));
    default:
      return [];
  }
}

/** Answers a submit whose task exists already: same key, same task. */
export function toDuplicateAccepted(state: Aggregate, submitId: string, context: OutgoingContext): OutgoingEvent {
  return taskEvent(state, context, TaskAccepted, acceptedData(state, true), submitId);
}

/** Answers a submit that was refused. `taskId` is `invalid` where no valid one could be read. */
export function toRefused(
  epoch: number,
  tenantId: string,
  taskId: string,
  submitId: string,
  error: ErrorBody,
  context: OutgoingContext,
): OutgoingEvent {
  const task = { tenantId, taskId };
  const envelope = toMessage(SubmitRefused, task, context, { causationid: submitId, epoch }, { error });
  return { kind: 'event', tenantId, taskId, traceparent: null, envelope };
}

/** The ledger's record of a change of state; null where a change is none (a new doorbell, a readied step). */
export function toTransition({ event, before, after }: Change): TransitionRecord | null {
  const round = after.task.round;
  if (event.kind === 'task_accepted')
    return { ...NO_STEP, stepId: null, from: null, to: 'pending', trigger: 'submit_accepted', round, code: null };
  if ('stepId' in event) {
    const step = event.stepId === undefined ? undefined : findStep(after, event.stepId);
    const from = event.stepId === undefined ? undefined : findStep(before, event.stepId);
    if (step === undefined || from === undefined || step.state === from.state) return null;
    return {
      stepId: step.stepId,
      from: from.state,
      to: step.state,
      trigger: triggerOf(event),
      attempt: step.attempt,
      spent: step.spent,
      round: step.round,
      claimId: step.claimId,
      worker: step.worker,
      code: 'error' in event ? event.error.code : null,
    };
  }
  if (before.task.state === after.task.state) return null;
  const code = event.kind === 'task_failed' ? event.error.code : null;
  return {
    ...NO_STEP,
    stepId: null,
    from: before.task.state,
    to: after.task.state,
    trigger: triggerOf(event),
    round,
    code,
  };
}

const NO_STEP = { attempt: null, spent: null, claimId: null, worker: null } as const;

const TRIGGERS: Partial<Record<Change['event']['kind'], string>> = {
  task_started: 'first_step_dispatched',
  task_validating: 'validation_asked',
  task_reworked: 'verdict_rework',
  task_reopened: 'retry',
  step_claimed: 'claim_granted',
  step_succeeded: 'report_succeeded',
  step_reopened: 'retry',
};

function triggerOf(event: Change['event']): string {
  return 'on' in event ? event.on : (TRIGGERS[event.kind] ?? event.kind);
}

function acceptedData({ task }: Aggregate, duplicate: boolean) {
  return {
    workflow: task.workflow,
    planHash: task.planHash,
    pin: task.pin,
    deadline: iso(task.deadline),
    duplicate,
    state: task.state,
  };
}

function taskTransitioned({ event, before, after }: Change, context: OutgoingContext): Outgoing {
  const data = {
    from: before.task.state,
    to: after.task.state,
    on: triggerOf(event),
    round: after.task.round,
    ...(event.kind === 'task_failed' ? { error: event.error } : {}),
    ...(event.kind === 'task_completed' ? { result: event.result } : {}),
  };
  return taskEvent(after, context, TaskTransitioned, data);
}

function hasMoved({ before, after }: Change): boolean {
  return before.task.state !== after.task.state;
}

function gateOpened(state: Aggregate, gate: GateState, context: OutgoingContext): Outgoing {
  const { stepId, sha256, expiresAt, onExpiry } = gate;
  const data = { stepId, sha256, expiresAt: iso(expiresAt), onExpiry };
  return taskEvent(state, context, TaskGateOpened, data);
}

function taskEvent(
  { epoch, task }: Aggregate,
  context: OutgoingContext,
  definition: typeof TaskAccepted | typeof TaskGateOpened | typeof TaskTransitioned,
  data: unknown,
  causationid?: string,
): OutgoingEvent {
  const envelope = toMessage(definition, task, context, { causationid, epoch }, data);
  const { tenantId, taskId, traceparent } = task;
  return { kind: 'event', tenantId, taskId, envelope, traceparent };
}

function stepTransitioned(
  { event, before, after }: Change,
  stepId: string,
  context: OutgoingContext,
): readonly Outgoing[] {
  const step = findStep(after, stepId);
  const from = findStep(before, stepId);
  if (step === undefined || from === undefined) return [];
  const { task, epoch } = after;
  const data = {
    role: step.role,
    from: from.state,
    to: step.state,
    on: triggerOf(event),
    spent: step.spent,
    error: step.error === null || event.kind === 'step_succeeded' ? undefined : step.error,
    dueAt: event.kind === 'step_backed_off' ? iso(event.dueAt) : undefined,
  };
  const attempt = step.attempt > 0 ? step.attempt : undefined;
  const about = { stepid: stepId, attempt, claimid: step.claimId ?? undefined, epoch };
  const envelope = toMessage(StepTransitioned, task, context, about, data);
  const { tenantId, taskId, traceparent } = task;
  return [{ kind: 'event', tenantId, taskId, envelope, traceparent }];
}

/**
 * The doorbell of a step's present attempt. Its message id names this one saying, so a re-publish dedupes and a new
 * ring never does; nor does that of another task of this id, whose tenant was removed and added again.
 */
export function toDoorbell(state: Aggregate, stepId: string, context: OutgoingContext): readonly OutgoingCommand[] {
  const step = findStep(state, stepId);
  const planned = state.plan.steps.find((candidate) => candidate.key === step?.planKey);
  if (step === undefined || planned === undefined) return [];
  const { task, epoch } = state;
  const { tenantId, taskId } = task;
  const { attempt, ring } = step;
  const data = {
    workflow: task.workflow,
    executor: step.executor,
    input: step.inputEdit ?? buildInput(state, planned, step),
    pin: task.pin,
    round: step.round,
    idempotencyKey: `${epoch}/${tenantId}/${taskId}/${stepId}`,
  };
  const headers = toAttemptHeaders({ epoch, tenantId, taskId, stepId, attempt }, ring);
  if (task.traceparent !== null) headers['traceparent'] = task.traceparent;
  if (step.replayOf !== null) headers[HEADERS.replayOf] = step.replayOf;
  const envelope = toMessage(StepRun, task, context, { stepid: stepId, attempt, epoch }, data);
  const subject = subjects.work(step.role, tenantId, taskId);
  const messageId = `${epoch}.${tenantId}.${taskId}.${task.createdAt}.${stepId}.${attempt}.${ring}`;
  return [{ subject, headers, messageId, envelope, stepId, attempt, ring }];
}

/** Tells the worker of a claim that was taken from it; its next heartbeat hears the same. */
function abort({ event, before, after }: Change, stepId: string, context: OutgoingContext): readonly Outgoing[] {
  const step = findStep(before, stepId);
  if (
    step?.phase !== 'executing' ||
    step.claimId === null ||
    step.worker === null ||
    !('on' in event) ||
    event.on.startsWith('report_') ||
    event.on === 'released'
  )
    return [];
  const { task, epoch } = after;
  const fence = {
    epoch,
    tenantId: task.tenantId,
    taskId: task.taskId,
    stepId,
    attempt: step.attempt,
    claimId: step.claimId,
  };
  const about = { stepid: stepId, attempt: step.attempt, claimid: step.claimId };
  return [
    {
      kind: 'abort',
      subject: subjects.abort(step.role, step.worker),
      envelope: toMessage(ClaimAbort, task, context, about, { ...fence, reason: event.on }),
    },
  ];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
