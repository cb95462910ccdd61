import type { Mapping, Plan, PlanStep } from '@cleanslate/contracts';
import { MAX_COMPENSATED_KEY, toUndoId } from './compensation.ts';
import { pathsOf } from './condition.ts';
import { invalid } from './invalid-plan.ts';

/** Roots of paths that lead to no step. */
const ROOTS: ReadonlySet<string> = new Set(['input', 'pin', 'feedback', 'evidence', 'subGoal', 'subGoals']);

export function checkMapping(where: string, mapping: Mapping, readable: ReadonlySet<string>): void {
  if (!('from' in mapping)) return;
  const [root = '', key, part] = mapping.from.split('.');
  if (ROOTS.has(root)) return;
  if (root !== 'steps' || key === undefined || part !== 'output') {
    throw invalid(
      `${where}: path "${mapping.from}" must start with "input", "pin", "feedback", "evidence", "subGoal", "subGoals" or "steps.<key>.output"`,
    );
  }
  if (!readable.has(key)) throw invalid(`${where}: reads step "${key}" without waiting for it; add it to "after"`);
}

/** Join, condition and compensation of one step. `ancestors`: every key it waits for, directly or not. */
export function checkStepRules(plan: Plan, step: PlanStep, ancestors: ReadonlySet<string>): void {
  const where = `step "${step.key}"`;
  const judges = plan.validation?.step === step.key;
  if (step.join !== undefined && step.after.length === 0) throw invalid(`${where} has a join but waits for no step`);
  if (typeof step.join === 'object' && step.join.quorum > step.after.length)
    throw invalid(`${where} asks for a quorum of ${step.join.quorum}, but waits for ${step.after.length} steps`);
  if (judges && step.join !== undefined && step.join !== 'all' && step.join !== 'best_effort')
    throw invalid(
      `${where} is the validation step: it judges when all work has ended, so its join is "all" or "best_effort"`,
    );
  if (step.when !== undefined) {
    if (judges) throw invalid(`${where} is the validation step: without it the task has no end, so it takes no "when"`);
    for (const from of pathsOf(step.when)) checkMapping(`${where}, condition`, { from }, ancestors);
  }
  if (step.compensate === undefined) return;
  if (judges) throw invalid(`${where} is the validation step: a verdict can't be undone, so it takes no "compensate"`);
  if (step.key.length > MAX_COMPENSATED_KEY)
    throw invalid(`${where} has a compensation: its key may have at most ${MAX_COMPENSATED_KEY} characters`);
  if (plan.steps.some((other) => other.key === toUndoId(step.key)))
    throw invalid(`step "${toUndoId(step.key)}" has the name of what undoes "${step.key}": choose another key`);
  for (const [field, mapping] of Object.entries(step.compensate.input))
    checkMapping(`${where}, compensation, field "${field}"`, mapping, new Set([...ancestors, step.key]));
}

export function checkGate({ gate, steps, validation }: Plan): void {
  if (gate === undefined) return;
  const named = steps.some((step) => step.key === gate.after);
  if (gate.after === 'validation') {
    if (named) throw invalid('gate.after "validation" could mean the step of that key: give the step another key');
    if (validation === null) throw invalid('gate.after is "validation", but the plan has no validation');
    return;
  }
  if (!named) throw invalid(`gate.after names the step "${gate.after}", which the plan doesn't have`);
  if (gate.after === validation?.step)
    throw invalid(`gate.after names the validation step: write "validation" to decide on what it passed`);
}

export function checkEvidence({ validation, steps }: Plan): void {
  const evidence = validation?.evidence;
  if (validation === null || evidence === undefined) return;
  if (!steps.some((step) => step.key === evidence.step) || evidence.step === validation.step)
    throw invalid(`validation.evidence names "${evidence.step}", which isn't a step before "${validation.step}"`);
  if (validation.rework.includes(evidence.step))
    throw invalid(`validation.evidence names "${evidence.step}", which validation.rework repeats: take it out of one`);
  if (evidence.maxSteps < steps.length)
    throw invalid(
      `validation.evidence.maxSteps is ${evidence.maxSteps}, but the plan itself has ${steps.length} steps`,
    );
  for (const step of steps) {
    if (validation.rework.includes(step.key) && (step.join ?? 'all') !== 'all')
      throw invalid(`step "${step.key}" must wait for all evidence that is added, so it takes no "join"`);
  }
}
