import type { ErrorBody } from '@cleanslate/contracts';
import { newStep } from './new-step.ts';
import type { Aggregate, Step } from './state.ts';

const PREFIX = 'undo-';

/** Longest key of a step that can be undone: `undo-` and the key are an id together. */
export const MAX_COMPENSATED_KEY = 48 - PREFIX.length;

export function toUndoId(stepId: string): string {
  return `${PREFIX}${stepId}`;
}

export function toUndoneId(undoId: string): string {
  return undoId.slice(PREFIX.length);
}

/**
 * One step for each completed step that can be undone, the last completed first; each waits for those before it,
 * however they end. Includes what a later round superseded: it had its effect too.
 */
export function planCompensation(state: Aggregate): readonly Step[] {
  const depths = findDepths(state.steps);
  const done = state.steps.filter(
    (step) => step.phase === 'done' && step.purpose === 'work' && step.copiedFrom === null && undoOf(state, step),
  );
  // Of two that ended in the same millisecond: the later round first, then the one that waited for the other.
  const depthOf = (step: Step) => depths.get(step.stepId) ?? 0;
  done.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0) || b.round - a.round || depthOf(b) - depthOf(a));
  const planned: Step[] = [];
  for (const step of done) {
    const undo = undoOf(state, step);
    if (undo === undefined) continue;
    // All of them: a retry may run some again, still in this order.
    const after = planned.map((each) => each.stepId);
    const added = newStep(toUndoId(step.stepId), step.planKey, undo.role, undo.executor, after);
    planned.push({ ...added, purpose: 'compensation', round: state.task.round });
  }
  return planned;
}

/** The error a task ends with: always what it failed with first; what could not be undone is added to it. */
export function withCompensation(error: ErrorBody, steps: readonly Step[]): ErrorBody {
  const failed = steps
    .filter((step) => step.purpose === 'compensation' && step.phase === 'failed')
    .map((step) => ({ step: step.stepId, code: step.error?.code ?? 'INTERNAL' }));
  const { notUndone: _, ...details } = error.details ?? {};
  if (failed.length === 0 && error.details === undefined) return error;
  return { ...error, details: failed.length === 0 ? details : { ...details, notUndone: failed } };
}

function undoOf({ plan }: Aggregate, step: Step) {
  return plan.steps.find((planned) => planned.key === step.planKey)?.compensate;
}

function findDepths(steps: readonly Step[]): ReadonlyMap<string, number> {
  const byId = new Map(steps.map((step) => [step.stepId, step]));
  const depths = new Map<string, number>();
  const depthOf = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const depth = Math.max(-1, ...(byId.get(id)?.after ?? []).map(depthOf)) + 1;
    depths.set(id, depth);
    return depth;
  };
  for (const { stepId } of steps) depthOf(stepId);
  return depths;
}
