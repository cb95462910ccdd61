import { isAppError, issueWords, Plan, parseJsonText } from '@cleanslate/contracts';
import { checkGrowth } from './check-growth.ts';
import { checkEvidence, checkGate, checkMapping, checkStepRules } from './check-plan-rules.ts';
import { invalid } from './invalid-plan.ts';

/**
 * Parses and checks a plan when it is loaded. Throws `PLAN_INVALID` naming the step and the fault: cycle, unknown or
 * repeated key, a mapping that reads a step it doesn't wait for, a validation step that doesn't judge everything.
 */
export function checkPlan(value: unknown): Plan {
  const parsed = Plan.safeParse(value);
  if (!parsed.success)
    throw invalid(
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issueWords(issue, value)}`).join('; '),
    );
  const plan = parsed.data;
  checkJson(plan);
  const keys = new Set(plan.steps.map((step) => step.key));
  if (keys.size !== plan.steps.length) throw invalid('two steps have the same key');
  for (const step of plan.steps) {
    const unknown = step.after.find((key) => !keys.has(key));
    if (unknown !== undefined) throw invalid(`step "${step.key}" waits for "${unknown}", which the plan doesn't have`);
  }
  const ancestors = findAncestors(plan);
  for (const step of plan.steps) {
    for (const [field, mapping] of Object.entries(step.input))
      checkMapping(`step "${step.key}", field "${field}"`, mapping, ancestors.get(step.key) ?? new Set());
  }
  checkMapping('result', plan.result, keys);
  checkValidation(plan, keys, ancestors);
  for (const step of plan.steps) checkStepRules(plan, step, ancestors.get(step.key) ?? new Set());
  checkGate(plan);
  checkEvidence(plan);
  checkGrowth(plan);
  return plan;
}

/** A field or literal that our own reader of messages refuses would end every task at its doorbell. */
function checkJson(plan: Plan): void {
  try {
    parseJsonText(JSON.stringify(plan), 'the plan');
  } catch (error) {
    throw isAppError(error) ? invalid(error.message) : error;
  }
}

function checkValidation(
  plan: Plan,
  keys: ReadonlySet<string>,
  ancestors: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  const { validation } = plan;
  if (validation === null) return;
  if (!keys.has(validation.step))
    throw invalid(`validation names the step "${validation.step}", which the plan doesn't have`);
  const judged = ancestors.get(validation.step) ?? new Set();
  for (const key of keys) {
    if (key !== validation.step && !judged.has(key))
      throw invalid(`step "${key}" isn't done before the validation step "${validation.step}": add it to "after"`);
  }
  for (const key of validation.rework) {
    if (!judged.has(key))
      throw invalid(`validation.rework names "${key}", which isn't a step before "${validation.step}"`);
  }
  // Otherwise the next verdict would be on results made from what was sent back, and might
  // come before the rework is done.
  for (const key of keys) {
    const stale = validation.rework.find((repeated) => ancestors.get(key)?.has(repeated));
    if (stale !== undefined && key !== validation.step && !validation.rework.includes(key))
      throw invalid(`validation.rework repeats "${stale}" but not "${key}", which waits for it: add "${key}"`);
  }
}

/** Every key with all keys it waits for, directly or not. A cycle is an error. */
function findAncestors(plan: Plan): Map<string, ReadonlySet<string>> {
  const after = new Map(plan.steps.map((step) => [step.key, step.after]));
  const found = new Map<string, ReadonlySet<string>>();
  const visiting: string[] = [];
  const visit = (key: string): ReadonlySet<string> => {
    const known = found.get(key);
    if (known !== undefined) return known;
    if (visiting.includes(key))
      throw invalid(`steps wait for each other in a cycle: ${[...visiting, key].join(' → ')}`);
    visiting.push(key);
    const all = new Set<string>();
    for (const parent of after.get(key) ?? []) {
      all.add(parent);
      for (const ancestor of visit(parent)) all.add(ancestor);
    }
    visiting.pop();
    found.set(key, all);
    return all;
  };
  for (const key of after.keys()) visit(key);
  return found;
}
