import type { JsonObject, Mapping, PlanStep } from '@cleanslate/contracts';
import { toUndoneId } from './compensation.ts';
import { findSubGoals, isGrown, subGoalOf } from './growth.ts';
import { type Aggregate, findLatest, findStep, type Step } from './state.ts';

/** Builds a step's input from its plan's mapping: what the plan names, nothing else. An absent value is null. */
export function buildInput(state: Aggregate, planStep: PlanStep, step: Step): JsonObject {
  const fields = step.purpose === 'compensation' ? (planStep.compensate?.input ?? {}) : planStep.input;
  return Object.fromEntries(
    Object.entries(fields).map(([field, mapping]) => [field, resolveMapping(state, mapping, step)]),
  );
}

export function resolveMapping(state: Aggregate, mapping: Mapping, step: Step | null): unknown {
  if ('value' in mapping) return mapping.value;
  const [root = '', ...rest] = mapping.from.split('.');
  switch (root) {
    case 'input':
      return walk(state.task.input, rest);
    case 'pin':
      return walk(state.task.pin, rest);
    case 'feedback':
      return walk(step?.feedback ?? null, rest);
    case 'evidence':
      return walk(findEvidence(state), rest);
    case 'subGoal':
      return walk(subGoalOf(state, step), rest);
    case 'subGoals':
      return walk(findSubGoals(state, step), rest);
    case 'steps': {
      const [key = '', , ...path] = rest;
      return walk(outputOf(state, findSource(state, key, step)), path);
    }
    default:
      return null;
  }
}

/** A step's output, or what a person replaced it with. */
export function outputOf({ plan, task }: Aggregate, source: Step | undefined): unknown {
  if (source === undefined) return null;
  const edited = plan.gate?.after === source.planKey && task.gate?.stepId === source.stepId;
  return edited && task.gate?.decision === 'edited' ? task.gate.edited : source.output;
}

/** What undoes a step means that very step by its key, not the one that replaced it in a later round. */
function findSource(state: Aggregate, key: string, step: Step | null): Step | undefined {
  if (step?.purpose === 'compensation' && step.planKey === key) return findStep(state, toUndoneId(step.stepId));
  return findLatest(state, key);
}

function findEvidence(state: Aggregate): readonly JsonObject[] {
  return state.steps
    .filter((step) => step.purpose === 'evidence' && step.phase === 'done' && !isGrown(state.plan, step))
    .map((step) => ({ query: step.feedback?.[0]?.evidence ?? null, output: step.output }));
}

/** Own keys only: a path never reaches a prototype. */
function walk(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return null;
    current = (current as JsonObject)[key];
  }
  return current ?? null;
}
