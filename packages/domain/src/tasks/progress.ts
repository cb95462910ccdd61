import { type ErrorBody, MAX_ERROR_MESSAGE, toStorableText } from '@cleanslate/contracts';
import { planCompensation, withCompensation } from './compensation.ts';
import { holds } from './condition.ts';
import type { Decision } from './decision.ts';
import { openGate } from './gate.ts';
import { parentsOf } from './growth.ts';
import { findFatal, goalsOf, type JoinVerdict, joinOf, judgeJoin, outcomeOf, outcomesOf } from './join.ts';
import { resolveMapping } from './mapping.ts';
import { type Aggregate, findStep, isActive, isGateOpen, isJudge, type Step } from './state.ts';
import { isTerminal } from './transitions.ts';
import { hasPassed } from './verdict.ts';

/**
 * Draws all that follows from what just changed, in one decision: steps become ready, are skipped, are no
 * longer needed, or can never run; and the task completes, waits for a person, or fails because a goal is out
 * of reach. `on` is what set it off.
 */
export function settle(decision: Decision, on: string): void {
  dropUnneeded(decision);
  // A step that ends may unblock others, or doom them; one that becomes ready only leaves behind what it did not wait
  // for. Steps end once, so this comes to an end.
  for (let ended = true; ended; ) {
    const moved = moveSteps(decision);
    ended = dropUnneeded(decision) || moved;
  }
  const { task, steps } = decision.state;
  if (isTerminal(task.state)) return;
  if (task.failing !== null) {
    if (!steps.some(isActive)) endFailing(decision);
    return;
  }
  const fatal = findFatal(decision.state);
  if (fatal?.error) return failTask(decision, on, toTaskError(fatal.stepId, fatal.error));
  openGate(decision);
  if (steps.some(isActive) || isGateOpen(decision.state.task)) return;
  const { validation } = decision.state.plan;
  if (validation === null || hasPassed(decision.state))
    complete(decision, on.startsWith('gate_') ? on : validation === null ? 'all_work_done' : 'verdict_pass');
}

/** Returns true where a step ended. */
function moveSteps(decision: Decision): boolean {
  const { length } = decision.changes;
  for (const step of decision.state.steps) if (step.phase === 'blocked') moveBlocked(decision, step);
  return decision.changes.some(({ event }, i) => i >= length && event.kind === 'step_failed');
}

function moveBlocked(decision: Decision, step: Step): void {
  const { state } = decision;
  const parents = parentsOf(state, step);
  const verdict = judgeJoin(joinOf(state.plan, step), outcomesOf(state, parents));
  if (verdict !== 'wait') unblock(decision, step, parents, verdict);
}

function unblock(
  decision: Decision,
  step: Step,
  parents: ReturnType<typeof parentsOf>,
  verdict: Exclude<JoinVerdict, 'wait'>,
): void {
  const { state } = decision;
  // A verdict is on all the work: also on what a join further up did not wait for, and the result is read from.
  if (isJudge(state, step) && state.steps.some((other) => other !== step && isActive(other))) return;
  if (verdict === 'failed') {
    const failed = parents.find((parent) => outcomeOf(state, parent) === 'failed');
    const message = `step "${failed?.stepId}" failed: ${failed?.error?.code}`;
    const details = { step: failed?.stepId };
    return endStep(decision, step, 'dependency_failed', { code: 'DEPENDENCY_FAILED', message, details });
  }
  // Whoever judges is asked even where all work was skipped: without a verdict the task would have no end.
  if (verdict === 'skip' && !isJudge(state, step)) return skip(decision, step, 'all it waits for was skipped');
  const condition = state.plan.steps.find((planned) => planned.key === step.planKey)?.when;
  if (condition !== undefined && step.purpose !== 'compensation' && !holds(state, condition, step))
    return skip(decision, step, 'its condition does not hold');
  if (isJudge(state, step) && state.task.state === 'executing') decision.emit({ kind: 'task_validating' });
  const dueAt = decision.now + decision.options.admissionLookMs;
  decision.emit({ kind: 'step_readied', stepId: step.stepId, dueAt });
}

/**
 * Ends what nobody waits for any more: the losers of a join, and what was only there for them.
 * Returns true where there was any.
 */
function dropUnneeded(decision: Decision): boolean {
  const { state } = decision;
  const { steps, plan } = state;
  if (!steps.some((step) => isAhead(state, step))) return false;
  const awaited = new Set<string>();
  const wanted = new Set<string>();
  for (const { after, phase } of steps) {
    for (const id of after) awaited.add(id);
    if (phase === 'blocked') for (const id of after) wanted.add(id);
  }
  for (const step of steps) {
    if (!isActive(step) || !awaited.has(step.stepId) || wanted.has(step.stepId)) continue;
    if (step.purpose === 'compensation' || (step.purpose === 'work' && goalsOf(plan).has(step.planKey))) continue;
    skip(decision, step, 'nothing waits for it any more');
  }
  return decision.state !== state;
}

/**
 * It did not wait for all that it names. Where every step did, as nearly always, there is nothing
 * that nobody waits for any more.
 */
function isAhead(state: Aggregate, { phase, after }: Step): boolean {
  if (phase === 'blocked') return false;
  for (const id of after) {
    const parent = findStep(state, id);
    if (parent !== undefined && isActive(parent)) return true;
  }
  return false;
}

function skip(decision: Decision, step: Step, message: string): void {
  endStep(decision, step, 'not_needed', { code: 'NOT_NEEDED', message });
}

function endStep(decision: Decision, step: Step, on: string, error: Omit<ErrorBody, 'disposition'>): void {
  decision.emit({
    kind: 'step_failed',
    stepId: step.stepId,
    on,
    spends: false,
    error: { ...error, disposition: 'terminal' },
  });
}

function toTaskError(stepId: string, error: ErrorBody): ErrorBody {
  return { ...error, message: toStorableText(`step "${stepId}": ${error.message}`, MAX_ERROR_MESSAGE) };
}

function complete(decision: Decision, on: string): void {
  const { state } = decision;
  if (state.task.state === 'pending') decision.emit({ kind: 'task_started' });
  const { gate } = state.task;
  const edited = state.plan.gate?.after === 'validation' && gate?.decision === 'edited';
  const result = edited ? gate.edited : resolveMapping(state, state.plan.result, null);
  decision.emit({ kind: 'task_completed', on, result });
}

/**
 * Ends all that is still active in the task, then the task: at once, or when what its completed steps did is undone.
 * `stepCode` is for what ends by a decision about the whole task.
 */
export function failTask(
  decision: Decision,
  on: string,
  error: ErrorBody,
  stepCode: 'CANCELLED' | 'DEADLINE_EXCEEDED' | null = null,
): void {
  for (const step of decision.state.steps) {
    if (!isActive(step)) continue;
    const written = stepCode === 'DEADLINE_EXCEEDED' && step.phase !== 'blocked';
    if (written) closeLetter(decision, step);
    const message = stepCode === null ? `the task failed: ${error.code}` : error.message;
    // Not the trigger of the step that failed: this one reported nothing, and whoever works on it must be told to stop.
    endStep(decision, step, stepCode === null ? 'task_failed' : on, { code: stepCode ?? 'NOT_NEEDED', message });
    if (written) decision.emit({ kind: 'letter_written', stepId: step.stepId, error, replayOf: step.replayOf });
  }
  const { task } = decision.state;
  if (isTerminal(task.state)) return;
  if (task.failing !== null) return endFailing(decision);
  const undo = planCompensation(decision.state);
  if (undo.length === 0) return decision.emit({ kind: 'task_failed', on, error });
  decision.emit({ kind: 'task_compensating', on, error, deadline: decision.now + task.deadlineMs });
  for (const step of undo) decision.emit({ kind: 'step_added', step });
  settle(decision, on);
}

function endFailing(decision: Decision): void {
  const { task, steps } = decision.state;
  if (task.failing === null) return;
  const error = withCompensation(task.failing.error, steps);
  decision.emit({ kind: 'task_failed', on: task.failing.on, error });
}

/**
 * The work that the letter asked for was done, or given up on once more; while attempts are
 * left it is still being replayed.
 */
export function closeLetter(decision: Decision, { stepId, replayOf }: Step): void {
  if (replayOf !== null) decision.emit({ kind: 'letter_closed', stepId, letterId: replayOf });
}
