import { ERROR_CODES, type ErrorBody, type ErrorCode } from '@cleanslate/contracts';
import type { LedgerEvent } from './events.ts';
import { type Aggregate, isGateOpen, type Step, type Task } from './state.ts';

/**
 * Applies one event. Total: an event that names no step changes nothing. `task_accepted` begins an
 * aggregate and is handled by `accept`.
 */
export function evolve(state: Aggregate, event: LedgerEvent, now: number): Aggregate {
  switch (event.kind) {
    case 'task_accepted':
      return { ...state, task: event.task, steps: event.steps };
    case 'task_started':
      return withTask(state, { state: 'executing' }, now);
    case 'task_validating':
      return withTask(state, { state: 'awaiting_validation' }, now);
    case 'task_reworked':
      // A retry whose steps are all done goes on with another round: that one is the first that counts.
      return withTask(
        state,
        {
          state: 'executing',
          round: event.round,
          ...(state.task.state === 'pending' ? { roundBase: event.round - 1 } : {}),
        },
        now,
      );
    case 'task_completed':
      return withTask(state, { state: 'completed', result: event.result }, now);
    case 'task_failed':
      return withTask(
        state,
        { state: 'failed', error: event.error, failing: null, ...withoutOpenGate(state.task) },
        now,
      );
    case 'task_compensating':
      return withTask(
        state,
        {
          ...(state.task.state === 'awaiting_validation' ? { state: 'executing' } : {}),
          ...withoutOpenGate(state.task),
          failing: { on: event.on, error: event.error },
          deadline: event.deadline,
        },
        now,
      );
    case 'task_reopened':
      return withTask(
        state,
        {
          state: 'pending',
          error: null,
          deadline: event.deadline,
          roundBase: state.task.round - 1,
          failing: event.failing,
          gate: state.task.gate?.decision === 'rejected' ? null : state.task.gate,
        },
        now,
      );
    case 'gate_opened':
      return withTask(state, { state: 'awaiting_validation', gate: event.gate }, now);
    case 'gate_decided': {
      const { gate } = state.task;
      if (gate === null) return state;
      const { decision, by, edited } = event;
      return withTask(state, { gate: { ...gate, decision, by, edited, result: null, decidedAt: now } }, now);
    }
    case 'task_resumed':
      return withTask(state, { state: 'executing' }, now);
    case 'step_added':
      return { ...state, steps: [...state.steps, event.step] };
    case 'refused':
    case 'letter_written':
      return state;
    default:
      return withStep(state, event, now);
  }
}

type StepEvent = Extract<LedgerEvent, { stepId: string }>;
type PlainStepEvent = Exclude<StepEvent, { kind: 'refused' | 'letter_written' }>;

function evolveStep(step: Step, event: PlainStepEvent, now: number): Step {
  switch (event.kind) {
    case 'step_readied':
      return { ...step, phase: 'ready', dueAt: event.dueAt, readyAt: now };
    case 'step_dispatched':
      return {
        ...step,
        phase: 'dispatched',
        attempt: event.attempt,
        ring: 1,
        dueAt: event.dueAt,
        queueExpiresAt: event.queueExpiresAt,
        doorbellSeq: null,
        // The claim of the last attempt stays on record until the next dispatch; then nobody holds one.
        claimId: null,
        worker: null,
        beaten: false,
      };
    case 'step_rung':
      return {
        ...step,
        ring: event.ring,
        dueAt: event.dueAt,
        ...(event.ring === step.ring ? {} : { doorbellSeq: null }),
      };
    case 'step_claimed':
      return {
        ...step,
        state: 'executing',
        phase: 'executing',
        claimId: event.claimId,
        worker: event.worker,
        beaten: false,
        dueAt: event.dueAt,
        timeoutAt: event.timeoutAt,
        startedAt: step.startedAt ?? now,
      };
    case 'step_succeeded':
      return {
        ...step,
        state: 'completed',
        phase: 'done',
        output: event.output,
        candidates: event.candidates,
        error: null,
        dueAt: null,
        timeoutAt: null,
        endedAt: now,
        applied: appliedWith(step),
      };
    case 'step_released':
      return {
        ...step,
        state: 'pending',
        phase: event.dueAt > now ? 'backing_off' : 'ready',
        dueAt: event.dueAt,
        timeoutAt: null,
        readyAt: now,
        ...(event.on === 'released' ? handedBack(step, event.reason) : wentSilent(step, event.reason, now)),
      };
    case 'step_backed_off':
      return {
        ...step,
        state: 'pending',
        phase: 'backing_off',
        dueAt: event.dueAt,
        timeoutAt: null,
        // Time that an attempt took is no time in the queue.
        ...(event.spends ? { queueExpiresAt: null } : {}),
        ...failure(step, event, now),
      };
    case 'step_failed':
      return {
        ...step,
        state: 'failed',
        phase: 'failed',
        dueAt: null,
        timeoutAt: null,
        endedAt: now,
        ...failure(step, event, now),
      };
    case 'letter_closed':
      return { ...step, replayOf: null };
    case 'usage_counted':
      return { ...step, tokens: step.tokens + event.tokens };
    case 'step_reopened':
      return {
        ...step,
        state: 'pending',
        phase: 'blocked',
        spent: 0,
        silentClaims: 0,
        error: null,
        endedAt: null,
        queueExpiresAt: null,
        replayOf: event.letterId,
      };
  }
}

/** Nobody is asked any more about a task that fails. */
function withoutOpenGate(task: Task): Partial<Task> {
  return isGateOpen(task) ? { gate: null } : {};
}

/**
 * A worker that can't do the work (another version, an executor it doesn't know) says so on the step, and the
 * queue's time goes on: were it given anew, the work would wander for ever. One that only had no time left (`drain`)
 * did take the work out of the queue.
 */
function handedBack(step: Step, reason: string): Partial<Step> {
  if (!isPauseCode(reason)) return { queueExpiresAt: null, applied: appliedWith(step) };
  const message = `worker ${step.worker ?? '?'} handed it back: ${reason}`;
  return { error: { code: reason, disposition: 'pause', message }, applied: appliedWith(step) };
}

/** Spent nothing, and yet it may be the step that ends its workers: its history tells of each. */
function wentSilent(step: Step, message: string, now: number): Partial<Step> {
  const error: ErrorBody = { code: 'LEASE_EXPIRED', disposition: 'retryable', message };
  return { silentClaims: step.silentClaims + 1, error, failures: withFailure(step, error, now) };
}

/** True for a reason of release that is a code of the error taxonomy which needs a person or an upgrade to end. */
export function isPauseCode(reason: string): boolean {
  return Object.hasOwn(ERROR_CODES, reason) && ERROR_CODES[reason as ErrorCode] === 'pause';
}

function failure(
  step: Step,
  event: Extract<LedgerEvent, { kind: 'step_backed_off' | 'step_failed' }>,
  now: number,
): Partial<Step> {
  const error = ('last' in event ? event.last : undefined) ?? event.error;
  return {
    error: event.error,
    spent: step.spent + (event.spends ? 1 : 0),
    failures: step.attempt === 0 ? step.failures : withFailure(step, error, now),
    applied: event.on === 'report_failed' ? appliedWith(step) : step.applied,
  };
}

function withFailure({ failures, attempt }: Step, error: ErrorBody, now: number): Step['failures'] {
  return [...failures, { at: now, attempt, error }].slice(-20);
}

/** The reports applied, with the one that the present claim just brought. */
function appliedWith({ applied, attempt, claimId }: Step): readonly string[] {
  return claimId === null ? applied : applied.slice(-19).concat(appliedKey(attempt, claimId));
}

export function appliedKey(attempt: number, claimId: string): string {
  return `${attempt}:${claimId}`;
}

function withTask(state: Aggregate, change: Partial<Task>, now: number): Aggregate {
  return { ...state, task: { ...state.task, ...change, updatedAt: now } };
}

function withStep(state: Aggregate, event: PlainStepEvent, now: number): Aggregate {
  const index = state.steps.findIndex((step) => step.stepId === event.stepId);
  const step = state.steps[index];
  return step === undefined ? state : { ...state, steps: state.steps.with(index, evolveStep(step, event, now)) };
}
