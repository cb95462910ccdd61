import { Verdict } from '@cleanslate/contracts';
import type { Decision } from './decision.ts';
import type { LedgerInput } from './inputs.ts';
import { failTask, settle } from './progress.ts';
import { findLatest, isActive, isGateOpen, type Step } from './state.ts';
import { isTerminal } from './transitions.ts';
import { addRound } from './validation-round.ts';

/** A finished task stays as it is, and so does one that is already failing: the caller reads the true state from it. */
export function decideCancel(decision: Decision, input: Extract<LedgerInput, { kind: 'cancel' }>): void {
  const { task } = decision.state;
  if (isTerminal(task.state) || task.failing !== null) return;
  failTask(decision, 'cancelled', { code: 'CANCELLED', disposition: 'terminal', message: input.reason }, 'CANCELLED');
}

export function decideDeadline(decision: Decision): void {
  const { task } = decision.state;
  if (isTerminal(task.state) || task.deadline > decision.now) return;
  const message = `not finished within its deadline of ${task.deadlineMs} ms`;
  failTask(decision, 'deadline', { code: 'DEADLINE_EXCEEDED', disposition: 'terminal', message }, 'DEADLINE_EXCEEDED');
}

/**
 * failed → pending, task and failed steps together: `spent` and rounds are reset, the deadline is set anew, finished
 * steps keep their results. A task whose steps all finished (the validator gave it up) gets another round instead.
 */
export function decideRetry(decision: Decision, input: Extract<LedgerInput, { kind: 'retry' }>): void {
  const { task, plan } = decision.state;
  if (task.state === 'completed')
    return decision.refuse('ALREADY_COMPLETED', 'a completed task is final; fork it instead');
  if (task.state !== 'failed')
    return decision.refuse('ILLEGAL_TRANSITION', `the task is ${task.state}; only a failed one can be retried`);
  const deadline = decision.now + (input.deadlineMs ?? task.deadlineMs);
  if (decision.state.steps.some((step) => step.purpose === 'compensation')) return retryUndo(decision, input, deadline);
  // Once there is a verdict, whatever failed on the way to it was not needed: the verdict is on the work as it is.
  const judged = plan.validation !== null && findLatest(decision.state, plan.validation.step)?.phase === 'done';
  const failed = judged ? [] : findFailed(decision.state.steps, task.round);
  const letterStep = decision.step(input.letter?.stepId ?? '');
  if (letterStep?.phase === 'failed' && !failed.includes(letterStep))
    return decision.refuse(
      'ILLEGAL_TRANSITION',
      `the task went on without step "${letterStep.stepId}"; fork it at that step instead`,
    );
  decision.emit({ kind: 'task_reopened', deadline, failing: null });
  reopen(decision, failed, input.letter);
  settle(decision, 'retry');
  const { state } = decision;
  if (isTerminal(state.task.state) || isGateOpen(state.task) || state.steps.some(isActive)) return;
  const verdict = Verdict.safeParse(
    plan.validation === null ? null : findLatest(decision.state, plan.validation.step)?.output,
  );
  addRound(decision, { reasons: verdict.success ? verdict.data.reasons : [] }, input.letter?.letterId ?? null);
}

/**
 * What finished steps did is undone, so the task can't go on from them; only what could not be undone is tried again,
 * and the task stays failed.
 */
function retryUndo(decision: Decision, input: Extract<LedgerInput, { kind: 'retry' }>, deadline: number): void {
  const { task, steps } = decision.state;
  const failed = steps.filter((step) => step.purpose === 'compensation' && step.phase === 'failed');
  const known = input.letter === null || failed.some((step) => step.stepId === input.letter?.stepId);
  if (failed.length === 0 || !known || task.error === null)
    return decision.refuse('ILLEGAL_TRANSITION', 'what its finished steps did was undone; fork the task instead');
  decision.emit({ kind: 'task_reopened', deadline, failing: { on: 'compensated', error: task.error } });
  reopen(decision, failed, input.letter);
  settle(decision, 'retry');
}

function reopen(
  decision: Decision,
  steps: readonly Step[],
  letter: Extract<LedgerInput, { kind: 'retry' }>['letter'],
): void {
  for (const { stepId } of steps)
    decision.emit({
      kind: 'step_reopened',
      stepId,
      letterId: letter?.stepId === stepId ? letter.letterId : null,
    });
}

/**
 * What failed in the present round; what an earlier round lacked, a later one did without or replaced by another step.
 */
function findFailed(steps: readonly Step[], round: number): readonly Step[] {
  const superseded = new Set(steps.map((step) => step.supersedes));
  return steps.filter(
    (step) =>
      step.phase === 'failed' &&
      !superseded.has(step.stepId) &&
      (step.purpose === 'work' || (step.purpose === 'evidence' && step.round === round)),
  );
}
