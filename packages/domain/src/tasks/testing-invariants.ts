import { isDeepStrictEqual } from 'node:util';
import {
  ClaimAbort,
  decodeMessage,
  StepRun,
  StepTransitioned,
  TaskAccepted,
  TaskGateOpened,
  TaskTransitioned,
  Verdict,
} from '@cleanslate/contracts';
import type { Decided } from './decide.ts';
import { evolve } from './evolve.ts';
import { type Aggregate, findLatest, isActive, isGateOpen, type Phase, type Step } from './state.ts';
import { assertPlanRules, isUnblocked } from './testing-plan-rules.ts';
import { findRung, toDoorbell, toOutgoing } from './to-outgoing.ts';
import { isTerminal, isTransitionAllowed } from './transitions.ts';

/**
 * What must hold after every input, whatever it was; each function throws where it doesn't. Plain conditions, because
 * these run a million times in the property tests.
 */
function must(holds: boolean, what: string, about?: unknown): void {
  if (!holds) throw new Error(about === undefined ? what : `${what}: ${JSON.stringify(about)}`);
}

const STATE_OF: Readonly<Record<Phase, Step['state']>> = {
  blocked: 'pending',
  ready: 'pending',
  dispatched: 'pending',
  backing_off: 'pending',
  executing: 'executing',
  done: 'completed',
  failed: 'failed',
};
const ACCOUNTED: ReadonlySet<Phase> = new Set(['ready', 'dispatched', 'executing', 'backing_off']);
const MESSAGES = [ClaimAbort, StepRun, StepTransitioned, TaskAccepted, TaskGateOpened, TaskTransitioned];
const encoder = new TextEncoder();

export function assertDecision(before: Aggregate, { changes, state }: Decided, now: number): void {
  const events = changes.map((change) => change.event);
  const evolved = events.reduce((reached, event) => evolve(reached, event, now), before);
  must(isDeepStrictEqual(evolved, state), 'evolve of the events is not the decided state');
  for (const change of changes) assertMoves(change.before, change.after);
  assertMonotonic(before, state);
  const first = events.find((event) => event.kind !== 'refused')?.kind;
  if (before.task.state === 'completed') must(first === undefined, 'a completed task had an event', first);
  if (before.task.state === 'failed' && first !== undefined)
    must(first === 'task_reopened', 'a failed task had an event that is no retry', first);
  if (first === undefined) must(state === before, 'the state changed without an event');
  assertReadable(changes, now);
}

/** Every single change of a state is in the table. */
export function assertMoves(before: Aggregate, after: Aggregate): void {
  const [from, to] = [before.task.state, after.task.state];
  must(from === to || isTransitionAllowed('task', from, to), 'a task may not move so', [from, to]);
  for (const step of after.steps) {
    const old = before.steps.find((each) => each.stepId === step.stepId);
    if (old === undefined) must(step.state === 'pending' && step.attempt === 0, 'a step must start afresh', step);
    else if (old.state !== step.state)
      must(isTransitionAllowed('step', old.state, step.state), 'a step may not move so', [old.state, step.state]);
  }
}

/** Nothing done is undone, no step vanishes, attempts and rings only grow, a claim is not handed on. */
export function assertMonotonic(before: Aggregate, after: Aggregate): void {
  if (before.task.state === 'completed') must(after.task === before.task, 'a completed task changed');
  must(after.steps.length >= before.steps.length, 'a step vanished');
  before.steps.forEach((old, i) => {
    const step = after.steps[i];
    must(step?.stepId === old.stepId, 'a step changed its place', [old.stepId, step?.stepId]);
    if (step === undefined || step === old) return;
    must(old.state !== 'completed', 'a completed step changed', [old, step]);
    must(step.attempt >= old.attempt, 'the attempt went back', [old, step]);
    if (step.attempt > old.attempt) return;
    must(step.ring >= old.ring, 'the ring went back', [old, step]);
    if (old.phase === 'executing') must(step.claimId === old.claimId, 'a claim was handed on', [old, step]);
  });
}

/** Whatever leaves the ledger can be read on the other side. */
function assertReadable(changes: Decided['changes'], now: number): void {
  const context = { time: new Date(now).toISOString(), newId: () => 'id' };
  for (const change of changes) {
    const rung = findRung(change);
    const doorbells = rung === undefined ? [] : toDoorbell(change.after, rung.stepId, context);
    must(doorbells.length === Number(rung !== undefined), 'a doorbell says nothing', rung);
    for (const { envelope } of [...toOutgoing(change, context), ...doorbells])
      decodeMessage(MESSAGES, encoder.encode(JSON.stringify(envelope)));
  }
}

export function assertState(state: Aggregate): void {
  const { task, steps } = state;
  must(new Set(steps.map((step) => step.stepId)).size === steps.length, 'two steps have the same id');
  for (const step of steps) assertStep(state, step);
  // Conservation: nothing is left that nobody will ever move.
  if (isTerminal(task.state)) must(!steps.some(isActive), 'a finished task has an active step', steps);
  else
    must(steps.some((step) => ACCOUNTED.has(step.phase)) || isGateOpen(task), 'nobody will ever move this task', state);
  must((task.error !== null) === (task.state === 'failed'), 'error and state disagree', task);
  assertRounds(state);
  assertPlanRules(state, must);
}

function assertRounds(state: Aggregate): void {
  const { task, steps, plan } = state;
  if (plan.validation === null)
    return must(task.state !== 'awaiting_validation' || isGateOpen(task), 'nobody judges this task', task);
  const round = task.round - task.roundBase;
  must(round >= 1 && round <= plan.validation.maxRounds, 'more rounds than the plan allows', task);
  const judge = findLatest(state, plan.validation.step);
  if (task.state === 'awaiting_validation' && !isGateOpen(task))
    must(
      steps.every((step) => isActive(step) === (step === judge)),
      'more than the verdict is awaited',
      steps,
    );
  if (task.state === 'completed')
    must(Verdict.parse(judge?.output).decision === 'pass', 'completed without a pass', judge);
}

function assertStep(state: Aggregate, step: Step): void {
  const { task, plan } = state;
  const { phase, attempt, spent, dueAt, timeoutAt } = step;
  const maxAttempts = plan.steps.find((planned) => planned.key === step.planKey)?.retry.maxAttempts ?? 0;
  must(step.state === STATE_OF[phase], 'state and phase disagree', step);
  must(spent <= maxAttempts && spent <= attempt, 'more was spent than there is', step);
  must((dueAt !== null) === ACCOUNTED.has(phase), 'due time and phase disagree', step);
  must(dueAt === null || Number.isSafeInteger(dueAt), 'the due time is none', step);
  must((timeoutAt !== null) === (phase === 'executing'), 'time-out and phase disagree', step);
  must(timeoutAt === null || timeoutAt <= task.deadline, 'the attempt outlives its task', step);
  if (phase === 'executing') must(step.claimId !== null && step.worker !== null, 'nobody executes it', step);
  if (phase === 'dispatched') must(step.claimId === null && step.queueExpiresAt !== null, 'badly dispatched', step);
  if (isActive(step)) must(isUnblocked(state, step) === (phase !== 'blocked'), 'badly blocked', step);
  if (phase === 'done') must(step.error === null && step.output !== null, 'badly done', step);
  if (phase === 'failed') must(step.error !== null, 'failed without an error', step);
  must(step.failures.length <= 20 && step.applied.length <= 20, 'the record grows without bound', step);
}
