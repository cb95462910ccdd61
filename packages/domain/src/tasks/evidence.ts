import type { VerdictReason } from '@cleanslate/contracts';
import { newStep } from './new-step.ts';
import type { Aggregate, Step } from './state.ts';

/** Step numbers end in four digits. */
const MAX_NUMBER = 9_999;

/**
 * Missing evidence becomes new steps: one for each query that the reasons name, made from the plan's template, with its
 * reason as feedback. Queries beyond what the plan allows are left out; the round that follows goes on without them.
 */
export function planEvidence(
  { plan, steps }: Aggregate,
  reasons: readonly VerdictReason[],
  alsoAdded: number,
  round: number,
): readonly Step[] {
  const evidence = plan.validation?.evidence;
  const template = plan.steps.find((step) => step.key === evidence?.step);
  if (evidence === undefined || template === undefined) return [];
  const asked = new Map(
    reasons.flatMap((reason) => (reason.evidence === undefined ? [] : [[reason.evidence, reason]])),
  );
  const taken = steps
    .filter((step) => step.planKey === template.key)
    .map((step) => Number(step.stepId.split('#')[1] ?? 1));
  const next = Math.max(1, ...taken) + 1;
  const room = Math.max(0, Math.min(evidence.maxSteps - steps.length - alsoAdded, MAX_NUMBER - next));
  return [...asked.values()].slice(0, room).map((reason, i) => ({
    ...newStep(`${template.key}#${next + i}`, template.key, template.role, template.executor, []),
    purpose: 'evidence',
    round,
    feedback: [reason],
  }));
}
