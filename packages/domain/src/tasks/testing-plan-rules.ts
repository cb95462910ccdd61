import { z } from 'zod';
import { type Aggregate, findLatest, isActive, isGateOpen, type Step } from './state.ts';

/**
 * Joins, gates and compensation once more, in other words than the machine's: written from what the design says, so
 * that a fault in one of the two shows.
 */
type Must = (holds: boolean, what: string, about?: unknown) => void;

const isSkipped = (step: Step) => step.phase === 'failed' && step.error?.code === 'NOT_NEEDED';
const isLost = (step: Step) => step.phase === 'failed' && step.error?.code !== 'NOT_NEEDED';

const Growing = z.looseObject({ subGoals: z.array(z.unknown()) });

/** What a planning step asked for beyond the plan's own step. */
function findGrown({ plan, steps }: Aggregate): readonly Step[] {
  return steps.filter(
    (step) => step.purpose === 'evidence' && step.feedback === null && step.planKey === plan.growth?.step,
  );
}

/** Undefined for one that is not there. Who waits for the step that grows waits for all of it. */
function findAwaited(state: Aggregate, step: Step): readonly (Step | undefined)[] {
  const named = step.after.map((id) => state.steps.find((each) => each.stepId === id));
  const { growth } = state.plan;
  const grows = growth !== undefined && step.purpose === 'work' && step.after.includes(growth.step);
  return grows ? [...named, ...findGrown(state)] : named;
}

/** An active step waits exactly as long as its join is not met. */
export function isUnblocked(state: Aggregate, step: Step): boolean {
  const judges = step.purpose === 'work' && state.plan.validation?.step === step.planKey;
  if (judges && state.steps.some((other) => other !== step && isActive(other))) return false;
  const counted = findAwaited(state, step).filter((parent) => parent === undefined || !isSkipped(parent));
  if (counted.length === 0) return true;
  const done = counted.filter((parent) => parent?.phase === 'done' && !isWithheld(state, parent)).length;
  const lost = counted.filter((parent) => parent === undefined || isLost(parent)).length;
  const planned = state.plan.steps.find((each) => each.key === step.planKey);
  const join = step.purpose === 'work' ? planned?.join : step.purpose === 'evidence' ? 'all' : 'best_effort';
  if (join === 'any') return done > 0;
  if (join === 'best_effort') return done + lost === counted.length;
  if (typeof join === 'object') return done >= join.quorum || done === counted.length;
  return done === counted.length;
}

/** A person must still agree with the result of this step. */
function isWithheld({ plan, task }: Aggregate, step: Step): boolean {
  if (plan.gate?.after !== step.planKey || step.purpose !== 'work') return false;
  return task.gate?.stepId !== step.stepId || !['approved', 'edited'].includes(task.gate.decision ?? '');
}

/** Its join can no longer be met: it ends in the very decision that made it so. */
function isDoomed(state: Aggregate, step: Step): boolean {
  const join = state.plan.steps.find((each) => each.key === step.planKey)?.join ?? 'all';
  if (step.purpose === 'compensation' || join === 'best_effort') return false;
  const counted = findAwaited(state, step).filter((parent) => parent !== undefined && !isSkipped(parent));
  const hopeful = counted.filter((parent) => parent !== undefined && !isLost(parent)).length;
  if (counted.length === 0) return false;
  if (join === 'all') return hopeful < counted.length;
  return hopeful < (join === 'any' ? 1 : Math.min(join.quorum, counted.length));
}

/** Somebody waits for it, or it is what the task is for. */
function isWanted({ steps, plan }: Aggregate, step: Step): boolean {
  const waiting = steps.filter((other) => other.after.includes(step.stepId));
  const isResult = 'from' in plan.result && plan.result.from.startsWith(`steps.${step.planKey}.`);
  return (
    step.purpose === 'compensation' || isResult || waiting.length === 0 || waiting.some((w) => w.phase === 'blocked')
  );
}

export function assertPlanRules(state: Aggregate, must: Must): void {
  const { task, steps, plan } = state;
  for (const step of steps) {
    if (!isActive(step)) continue;
    must(step.phase !== 'blocked' || !isDoomed(state, step), 'it waits for what can no longer come', step);
    must(isWanted(state, step), 'nobody waits for it', step);
  }
  if (isGateOpen(task)) must(task.state === 'awaiting_validation', 'a gate is open in a task that does not wait', task);
  if (task.state === 'completed') assertCompleted(state, must);
  if (task.failing !== null) {
    must(task.error === null, 'a failing task has failed already', task);
    must(
      steps.every((step) => !isActive(step) || step.purpose === 'compensation'),
      'work goes on in a failing task',
      steps,
    );
  }
  const grown = assertGrown(state, must);
  const evidence = steps.filter((step) => step.purpose === 'evidence').length - grown;
  const maxSteps = plan.validation?.evidence?.maxSteps ?? plan.steps.length;
  must(evidence + plan.steps.length <= maxSteps, 'the task outgrew its plan', steps);
  const undo = steps.filter((step) => step.purpose === 'compensation');
  const endedAt = undo.map(
    (step) => steps.find((each) => each.stepId === step.stepId.slice('undo-'.length))?.endedAt ?? 0,
  );
  must(
    endedAt.every((at, i) => i === 0 || at <= (endedAt[i - 1] ?? 0)),
    'undone in the wrong order',
    undo,
  );
  if (task.failing === null && task.state !== 'failed') must(undo.length === 0, 'undone without a failure', steps);
  if (task.state !== 'failed' && task.failing === null) return;
  for (const step of steps) {
    const planned = plan.steps.find((each) => each.key === step.planKey);
    if (step.phase !== 'done' || step.purpose !== 'work' || planned?.compensate === undefined) continue;
    must(undo.filter((each) => each.stepId === `undo-${step.stepId}`).length === 1, 'not undone, or twice', step);
  }
  const running = undo.filter((step) => isActive(step) && step.phase !== 'blocked');
  must(running.length <= 1, 'two steps are undone at the same time', running);
}

/** Returns how many steps grew. */
function assertGrown(state: Aggregate, must: Must): number {
  const { growth } = state.plan;
  if (growth === undefined) return 0;
  const grown = findGrown(state).length;
  const asked = Growing.safeParse(findLatest(state, growth.from)?.output).data?.subGoals.length ?? 1;
  must(grown === asked - 1 && asked <= growth.maxSteps, 'what grew is not what was asked for', state.steps);
  return grown;
}

function assertCompleted(state: Aggregate, must: Must): void {
  const { task, steps, plan } = state;
  const awaited = new Set(plan.steps.flatMap((step) => step.after));
  for (const { key } of plan.steps) {
    const step = findLatest(state, key);
    if (awaited.has(key) || step === undefined) continue;
    must(step.phase === 'done' || isSkipped(step), 'a completed task lacks an end', step);
  }
  const gated = plan.gate && plan.gate.after !== 'validation' ? findLatest(state, plan.gate.after) : undefined;
  if (gated?.phase === 'done') must(!isWithheld(state, gated), 'completed past its gate', task);
  if (plan.gate?.after === 'validation') must(task.gate?.decision != null, 'completed past its gate', task);
  must(task.gate?.decision !== 'rejected', 'completed although it was rejected', task);
  // Nothing runs that waited in vain.
  for (const step of steps) if (step.phase === 'done') must(isMet(state, step), 'it ran without its join', step);
}

/** A finished step's join was met when it ran; what a retry skipped or lost since then counts for it. */
function isMet(state: Aggregate, step: Step): boolean {
  if (step.after.length === 0 || step.copiedFrom !== null) return true;
  const parents = step.after.map((id) => state.steps.find((each) => each.stepId === id));
  const planned = state.plan.steps.find((each) => each.key === step.planKey);
  if (planned?.join === 'best_effort' || state.plan.validation?.step === step.planKey) return true;
  return parents.some((parent) => parent?.phase === 'done');
}
