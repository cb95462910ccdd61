import type { Pin } from '@cleanslate/contracts';
import { AppError } from '@cleanslate/contracts';
import type { Decided } from './decide.ts';
import { Decision } from './decision.ts';
import { isGrown } from './growth.ts';
import { outputOf } from './mapping.ts';
import { newStep } from './new-step.ts';
import { settle } from './progress.ts';
import { type Aggregate, findLatest, type MachineOptions, type Step, type Task } from './state.ts';

export type ForkRequest = {
  readonly taskId: string;
  /** Whoever waits for `task.accepted` finds it by this. */
  readonly submitId: string;
  /** Plan key of the first step to run again; null: all of them. */
  readonly at: string | null;
  readonly pin: Pin;
  readonly deadlineMs: number | null;
};

/**
 * A new task from an old one, which stays as it is. Same input and plan; what came before the step keeps its results
 * (with a person's edit in place) unless what they stand for was undone; everything else runs. Throws `INVALID_INPUT`
 * where the plan has no such step.
 */
export function fork(source: Aggregate, request: ForkRequest, now: number, options: MachineOptions): Decided {
  const { plan } = source;
  if (request.at !== null && !plan.steps.some((step) => step.key === request.at)) {
    const known = plan.steps.map((step) => step.key).join(', ');
    throw new AppError('INVALID_INPUT', `the task has no step "${request.at}": fork it at one of ${known}`);
  }
  const again = request.at === null ? new Set(plan.steps.map((step) => step.key)) : findAgain(source, request.at);
  const task = toTask(source.task, request, now);
  const steps = plan.steps.map((planned): Step => {
    const step = newStep(planned.key, planned.key, planned.role, planned.executor, planned.after);
    return again.has(planned.key) ? step : copyResult(source, step, findLatest(source, planned.key), now);
  });
  // Where the planning step runs again, it asks anew.
  if (plan.growth !== undefined && !again.has(plan.growth.from)) steps.push(...forkGrown(source, again, now));
  const decision = new Decision({ epoch: source.epoch, task, steps, plan }, now, options);
  decision.emit({ kind: 'task_accepted', task, steps });
  settle(decision, 'forked');
  return { state: decision.state, changes: decision.changes };
}

/** The step, what has no result to keep, what was undone or is to be, and all that waits for one of them. */
function findAgain(source: Aggregate, at: string): ReadonlySet<string> {
  const again = new Set([at]);
  for (const { key } of source.plan.steps) if (findLatest(source, key)?.phase !== 'done') again.add(key);
  // However its undoing ends: one that failed is tried again by a retry, under the fork's feet.
  for (const { purpose, planKey } of source.steps) if (purpose === 'compensation') again.add(planKey);
  for (let size = -1; size !== again.size; ) {
    size = again.size;
    for (const step of source.plan.steps) if (step.after.some((key) => again.has(key))) again.add(step.key);
  }
  return again;
}

function forkGrown(source: Aggregate, again: ReadonlySet<string>, now: number): readonly Step[] {
  const grown = source.steps.filter((step) => isGrown(source.plan, step));
  return grown.map((old): Step => {
    const { stepId, planKey, role, executor, after, purpose } = old;
    const step: Step = { ...newStep(stepId, planKey, role, executor, after), purpose };
    return again.has(planKey) || old.phase !== 'done' ? step : copyResult(source, step, old, now);
  });
}

function copyResult(source: Aggregate, step: Step, old: Step | undefined, now: number): Step {
  const output = outputOf(source, old) as Step['output'];
  return { ...step, state: 'completed', phase: 'done', output, endedAt: now, copiedFrom: old?.stepId ?? null };
}

function toTask(old: Task, request: ForkRequest, now: number): Task {
  const deadlineMs = request.deadlineMs ?? old.deadlineMs;
  return {
    ...old,
    taskId: request.taskId,
    idempotencyKey: null,
    submitId: request.submitId,
    state: 'pending',
    round: 1,
    roundBase: 0,
    result: null,
    error: null,
    pin: request.pin,
    deadline: now + deadlineMs,
    deadlineMs,
    failing: null,
    gate: null,
    forkedFrom: old.taskId,
    createdAt: now,
    updatedAt: now,
  };
}
