import { type ErrorBody, MAX_ERROR_MESSAGE, toStorableText } from '@cleanslate/contracts';
import { failAttempt, giveUpStep } from './decide-report.ts';
import type { Decision } from './decision.ts';
import type { LedgerInput } from './inputs.ts';
import { isJudge } from './state.ts';

type Input<K extends LedgerInput['kind']> = Extract<LedgerInput, { kind: K }>;

/** Admission lets a ready step out: a new attempt, its first doorbell; the task's first one starts the task. */
export function decideDispatch(decision: Decision, input: Input<'dispatch'>): void {
  const step = decision.step(input.stepId);
  if (step?.phase !== 'ready') return;
  const { state, now, options } = decision;
  const ttl = state.plan.steps.find((planned) => planned.key === step.planKey)?.queueTtlMs ?? state.task.deadlineMs;
  if (state.task.state === 'pending') decision.emit({ kind: 'task_started' });
  // A retried task whose work is all done but for the verdict goes straight on to validation.
  if (isJudge(state, step) && decision.state.task.state === 'executing') decision.emit({ kind: 'task_validating' });
  decision.emit({
    kind: 'step_dispatched',
    stepId: step.stepId,
    attempt: step.attempt + 1,
    dueAt: now + options.ringCheckMs,
    queueExpiresAt: step.queueExpiresAt ?? now + ttl,
  });
}

/**
 * A claim that went silent: free where no heartbeat ever named it (a few times a step), else it counts. Nobody can tell
 * a worker that never heard of its claim from one that the step killed at once, so an executor that ends its process
 * runs that many times more than its policy says; the record says of each why.
 */
export function decideLease(decision: Decision, input: Input<'lease_due'>): void {
  const step = decision.step(input.stepId);
  if (
    step?.phase !== 'executing' ||
    step.attempt !== input.attempt ||
    step.claimId !== input.claimId ||
    !isDue(step.dueAt, decision.now)
  )
    return;
  const free = decision.options.silentClaims;
  if (!step.beaten && step.silentClaims < free) {
    return decision.emit({
      kind: 'step_released',
      stepId: step.stepId,
      on: 'silent_claim',
      reason: `worker ${step.worker ?? '?'} took it and went silent before its first heartbeat: nothing spent (${step.silentClaims + 1} of ${free})`,
      dueAt: decision.now,
    });
  }
  const uncounted =
    step.silentClaims === 0 ? '' : `; ${step.silentClaims} claims that went silent before it spent nothing`;
  const message = `worker ${step.worker ?? '?'} was not heard of for ${decision.options.leaseMs} ms${uncounted}`;
  failAttempt(decision, step, 'lease_expired', { code: 'LEASE_EXPIRED', disposition: 'retryable', message });
}

export function decideAttemptTimeout(decision: Decision, input: Input<'attempt_timeout_due'>): void {
  const step = decision.step(input.stepId);
  if (step?.phase !== 'executing' || step.attempt !== input.attempt || !isDue(step.timeoutAt, decision.now)) return;
  if (decision.now >= decision.state.task.deadline) return;
  const error: ErrorBody = {
    code: 'ATTEMPT_TIMEOUT',
    disposition: 'retryable',
    message: `attempt ${step.attempt} took longer than its time-out`,
  };
  failAttempt(decision, step, 'attempt_timeout', error);
}

export function decideBackoff(decision: Decision, input: Input<'backoff_due'>): void {
  const step = decision.step(input.stepId);
  if (step?.phase !== 'backing_off' || !isDue(step.dueAt, decision.now)) return;
  decision.emit({ kind: 'step_readied', stepId: step.stepId, dueAt: decision.now + decision.options.admissionLookMs });
}

export function decideQueue(decision: Decision, input: Input<'queue_due'>): void {
  const step = decision.step(input.stepId);
  const waiting = step?.phase === 'ready' || step?.phase === 'dispatched' || step?.phase === 'backing_off';
  if (step === undefined || !waiting || !isDue(step.queueExpiresAt, decision.now)) return;
  const last = step.error === null ? '' : `; the last error: ${step.error.code} ${step.error.message}`;
  const code = step.error?.code === 'UNSUPPORTED_VERSION' ? 'UNSUPPORTED_VERSION' : 'QUEUE_EXPIRED';
  giveUpStep(decision, step, 'queue_expired', {
    code,
    disposition: 'terminal',
    message: toStorableText(`no worker finished it within its queue time-to-live${last}`, MAX_ERROR_MESSAGE),
  });
}

/** The doorbell is rung again only where the stream no longer holds it; otherwise the next check is set. */
export function decideRing(decision: Decision, input: Input<'ring_due'>): void {
  const step = decision.step(input.stepId);
  if (
    step?.phase !== 'dispatched' ||
    step.attempt !== input.attempt ||
    step.ring !== input.ring ||
    !isDue(step.dueAt, decision.now)
  )
    return;
  if (input.gone && step.ring >= decision.options.maxRings) {
    const message = `${step.ring} doorbells of attempt ${step.attempt} vanished from their stream before anyone answered: see what deletes them`;
    return giveUpStep(decision, step, 'rings_exhausted', { code: 'RINGS_EXHAUSTED', disposition: 'terminal', message });
  }
  decision.emit({
    kind: 'step_rung',
    stepId: step.stepId,
    ring: input.gone ? step.ring + 1 : step.ring,
    dueAt: decision.now + decision.options.ringCheckMs,
  });
}

/**
 * A doorbell that no message can carry will never ring: its step is given up on, visibly,
 * instead of being sent for ever.
 */
export function decideUnsendable(decision: Decision, input: Input<'unsendable'>): void {
  const step = decision.step(input.stepId);
  if (step?.phase !== 'dispatched' || step.attempt !== input.attempt) return;
  const error: ErrorBody = {
    code: 'PAYLOAD_TOO_LARGE',
    disposition: 'terminal',
    message: toStorableText(`its input fits no message: ${input.message}`, MAX_ERROR_MESSAGE),
  };
  giveUpStep(decision, step, 'unsendable', error);
}

function isDue(at: number | null, now: number): boolean {
  return at !== null && at <= now;
}
