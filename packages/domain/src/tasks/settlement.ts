import { type KnowledgeSettle, Verdict } from '@cleanslate/contracts';
import { findKnowledgeUse } from './knowledge-use.ts';
import { type Aggregate, findLatest, type Step } from './state.ts';

/**
 * What the maintainer is told when a task ends; null where no attempt can have left a candidate
 * behind and no fact was used.
 */
export function toSettlement(state: Aggregate): KnowledgeSettle | null {
  const use = findKnowledgeUse(state);
  const used = use.reads.length > 0 || use.answer !== null;
  return used || state.steps.some(mayHaveProposed) ? settlementOf(state, use) : null;
}

/** A step that succeeded at once lists all it proposed; an attempt that ended otherwise may have proposed before. */
function mayHaveProposed({ candidates, attempt, phase, startedAt }: Step): boolean {
  return candidates.length > 0 || attempt > 1 || (phase === 'failed' && startedAt !== null);
}

/** The verdict on a finished task's candidates, the claims that won, and the facts that it used. */
export function settlementOf(state: Aggregate, use = findKnowledgeUse(state)): KnowledgeSettle {
  const { task, steps, plan } = state;
  const judged =
    plan.validation === null ? undefined : Verdict.safeParse(findLatest({ steps }, plan.validation.step)?.output);
  // What a person rewrote is not what the validator saw.
  const passed =
    task.state === 'completed' &&
    judged?.success === true &&
    judged.data.decision === 'pass' &&
    task.gate?.decision !== 'edited';
  // What a later round superseded was sent back: its candidates are not what passed.
  const superseded = new Set(steps.map((step) => step.supersedes));
  return {
    taskId: task.taskId,
    verdict: task.state === 'failed' ? 'held' : passed ? 'passed' : 'unvalidated',
    validatorScore: judged?.success === true ? judged.data.score : null,
    claims: steps
      .filter((step) => step.phase === 'done' && step.claimId !== null && !superseded.has(step.stepId))
      .map((step) => ({
        stepId: step.stepId,
        attempt: step.attempt,
        claimId: step.claimId ?? '',
        candidates: [...step.candidates],
      })),
    ...use,
  };
}
