import { AppError, type ErrorBody, type JsonObject, type Plan, SubGoalRef } from '@cleanslate/contracts';
import { z } from 'zod';
import { invalid } from './invalid-plan.ts';
import { newStep } from './new-step.ts';
import { type Aggregate, findLatest, findStep, type Step } from './state.ts';

type SubGoal = z.infer<typeof SubGoalRef>;

/** Was this step added because a planning step asked for it? The first sub-goal is served by the plan's own step. */
export function isGrown({ growth }: Plan, step: Step): boolean {
  return step.planKey === growth?.step && step.purpose === 'evidence' && step.feedback === null;
}

/** All that a step waits for: what was grown from a step is waited for with it. */
export function parentsOf(state: Aggregate, step: Step): readonly (Step | undefined)[] {
  const parents = step.after.map((id) => findStep(state, id));
  const template = state.plan.growth?.step;
  if (template === undefined || step.purpose !== 'work' || !parents.some((parent) => parent?.planKey === template))
    return parents;
  return [...parents, ...state.steps.filter((other) => isGrown(state.plan, other))];
}

/**
 * The steps that a planning step's output asks for, apart from the first. Checked like any plan: throws `PLAN_INVALID`
 * for none, too many, a repeated id, or a need that doesn't stand before (so that no cycle can be written down). Empty
 * where the step plans nothing.
 */
export function planGrowth(
  { plan, steps }: Pick<Aggregate, 'plan' | 'steps'>,
  from: Step,
  output: unknown,
): readonly Step[] {
  const { growth } = plan;
  if (growth === undefined || from.purpose !== 'work' || from.planKey !== growth.from) return [];
  const template = plan.steps.find((step) => step.key === growth.step);
  if (template === undefined) return [];
  const subGoals = readSubGoals(from, output, growth.maxSteps);
  const stepIds = new Map(subGoals.map(({ id }, index) => [id, toStepId(template.key, index)]));
  return subGoals.slice(1).map(({ needs }, index) => {
    const after = needs.map((id) => stepIds.get(id) ?? id);
    return {
      ...newStep(toStepId(template.key, index + 1), template.key, template.role, template.executor, [
        from.stepId,
        ...after,
      ]),
      purpose: 'evidence',
      round: findLatest({ steps }, template.key)?.round ?? 1,
    };
  });
}

/** What a planning step asks for that no rule of plans allows; undefined where it may grow. */
export function findGrowthFault(state: Aggregate, from: Step, output: unknown): ErrorBody | undefined {
  try {
    planGrowth(state, from, output);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: 'PLAN_INVALID', disposition: 'terminal', message: error.message };
  }
}

/** The sub-goal that a step was made for; null for steps of another kind. */
export function subGoalOf({ plan, steps }: Pick<Aggregate, 'plan' | 'steps'>, step: Step | null): SubGoal | null {
  const { growth } = plan;
  if (growth === undefined || step?.planKey !== growth.step || (step.purpose !== 'work' && !isGrown(plan, step)))
    return null;
  const index = step.purpose === 'work' ? 0 : Number(step.stepId.split('#')[1]) - 1;
  const parsed = Output.safeParse(findLatest({ steps }, growth.from)?.output);
  return parsed.data?.subGoals[index] ?? null;
}

/**
 * What was found for the sub-goals so far: for a step that serves one, those it needs; for any other step all of them.
 */
export function findSubGoals(state: Pick<Aggregate, 'plan' | 'steps'>, reader: Step | null): readonly JsonObject[] {
  const needed = reader !== null && subGoalOf(state, reader) !== null ? new Set(reader.after) : null;
  return state.steps
    .filter((step) => step.phase === 'done' && (needed === null || needed.has(step.stepId)))
    .flatMap((step) => {
      const subGoal = subGoalOf(state, step);
      return subGoal === null ? [] : [{ subGoal, output: step.output }];
    });
}

const Output = z.looseObject({ subGoals: z.array(SubGoalRef).min(1).max(100) });

function readSubGoals(from: Step, output: unknown, most: number): readonly SubGoal[] {
  const where = `what the planning step "${from.stepId}" asks for`;
  const parsed = Output.safeParse(output);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${where}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { subGoals } = parsed.data;
  if (subGoals.length > most) throw invalid(`${where}: ${subGoals.length} sub-goals, at most ${most} may be added`);
  const before = new Set<string>();
  for (const { id, needs } of subGoals) {
    if (before.has(id)) throw invalid(`${where}: two sub-goals have the id "${id}"`);
    const missing = needs.find((need) => !before.has(need));
    if (missing !== undefined) throw invalid(`${where}: "${id}" needs "${missing}", which doesn't stand before it`);
    before.add(id);
  }
  return subGoals;
}

function toStepId(key: string, index: number): string {
  return index === 0 ? key : `${key}#${index + 1}`;
}
