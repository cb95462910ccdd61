import type { Join, Plan } from '@cleanslate/contracts';
import { parentsOf } from './growth.ts';
import { type Aggregate, findLatest, type Step } from './state.ts';

/**
 * What a step is to those that wait for it. `skipped` (not needed, condition not met) counts
 * neither as success nor as failure.
 */
export type Outcome = 'open' | 'done' | 'skipped' | 'failed';

export function outcomeOf(state: Aggregate, step: Step | undefined): Outcome {
  if (step === undefined) return 'failed';
  if (step.phase === 'done') return isHeld(state, step) ? 'open' : 'done';
  if (step.phase === 'failed') return step.error?.code === 'NOT_NEEDED' ? 'skipped' : 'failed';
  return 'open';
}

export function outcomesOf(state: Aggregate, steps: readonly (Step | undefined)[]): readonly Outcome[] {
  return steps.map((step) => outcomeOf(state, step));
}

/** Done, but a person must still agree with its result before anything follows from it. */
export function isHeld({ plan, task }: Aggregate, step: Step): boolean {
  if (plan.gate === undefined || step.purpose !== 'work' || plan.gate.after !== step.planKey) return false;
  const { gate } = task;
  return gate?.stepId !== step.stepId || (gate.decision !== 'approved' && gate.decision !== 'edited');
}

/** Evidence is waited for like anything else; what undoes steps goes on, whatever became of the one before. */
export function joinOf(plan: Plan, step: Step): Join {
  if (step.purpose === 'compensation') return 'best_effort';
  if (step.purpose === 'evidence') return 'all';
  return plan.steps.find((planned) => planned.key === step.planKey)?.join ?? 'all';
}

export type JoinVerdict = 'ready' | 'wait' | 'skip' | 'failed';

/** Decides as soon as the outcome can't change any more, so that no branch, however it ends, hangs a join. */
export function judgeJoin(join: Join, outcomes: readonly Outcome[]): JoinVerdict {
  if (outcomes.length === 0) return 'ready';
  let open = 0;
  let done = 0;
  let failed = 0;
  for (const outcome of outcomes) {
    if (outcome === 'open') open++;
    else if (outcome === 'done') done++;
    else if (outcome === 'failed') failed++;
  }
  const counted = open + done + failed;
  if (counted === 0) return 'skip';
  if (join === 'best_effort') return open > 0 ? 'wait' : 'ready';
  if (join === 'all') return failed > 0 ? 'failed' : open > 0 ? 'wait' : 'ready';
  // Of what was not skipped: a quorum of branches that were never meant to run can't be asked for.
  const needed = join === 'any' ? 1 : Math.min(join.quorum, counted);
  if (done >= needed) return 'ready';
  return open + done >= needed ? 'wait' : 'failed';
}

const goals = new WeakMap<Plan, ReadonlySet<string>>();

/**
 * What a task is for: the steps nothing waits for, and the one its result is read from. It fails when one of them does.
 */
export function goalsOf(plan: Plan): ReadonlySet<string> {
  const known = goals.get(plan);
  if (known !== undefined) return known;
  const awaited = new Set(plan.steps.flatMap((step) => step.after));
  const found = new Set(plan.steps.map((step) => step.key).filter((key) => !awaited.has(key)));
  const [root, key] = 'from' in plan.result ? plan.result.from.split('.') : [];
  if (root === 'steps' && key !== undefined) found.add(key);
  goals.set(plan, found);
  return found;
}

/** The step whose failure put a goal out of reach; undefined while all can be reached. */
export function findFatal(state: Aggregate): Step | undefined {
  for (const key of goalsOf(state.plan)) {
    const goal = findLatest(state, key);
    if (goal === undefined || outcomeOf(state, goal) !== 'failed') continue;
    let step: Step = goal;
    while (step.error?.code === 'DEPENDENCY_FAILED') {
      const cause: Step | undefined = parentsOf(state, step).find((parent) => outcomeOf(state, parent) === 'failed');
      if (cause === undefined) break;
      step = cause;
    }
    return step;
  }
  return undefined;
}
