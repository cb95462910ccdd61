import { canonicalJson, type ErrorBody, MAX_ERROR_MESSAGE, toStorableText, type Verdict } from '@cleanslate/contracts';
import type { Decision } from './decision.ts';
import { planEvidence } from './evidence.ts';
import { newStep } from './new-step.ts';
import { failTask, settle } from './progress.ts';
import { findLatest, type Step } from './state.ts';
import { findOverspent } from './validation-budget.ts';

/** What a verdict does to the task. `judge` is the validation step as it was when it reported. */
export function applyVerdict(decision: Decision, judge: Step, verdict: Verdict): void {
  if (verdict.decision === 'pass') return settle(decision, 'verdict_pass');
  if (verdict.decision === 'reject')
    return giveUp(
      decision,
      judge,
      'verdict_reject',
      'VALIDATION_REJECTED',
      'the validator rejected the result',
      verdict,
    );
  const { validation } = decision.state.plan;
  const { task } = decision.state;
  if (validation === null) return;
  if (task.round - task.roundBase >= validation.maxRounds) {
    return giveUp(
      decision,
      judge,
      'verdict_rework',
      'VALIDATION_EXHAUSTED',
      `not valid after ${validation.maxRounds} rounds`,
      verdict,
    );
  }
  const stuck = findStandstill(decision, judge, verdict);
  if (stuck !== null)
    return giveUp(
      decision,
      judge,
      'verdict_rework',
      'VALIDATION_EXHAUSTED',
      `round ${task.round} brought no progress: ${stuck}`,
      verdict,
    );
  const overspent = findOverspent(decision.state, decision.now);
  if (overspent !== null) return giveUp(decision, judge, 'verdict_rework', 'VALIDATION_EXHAUSTED', overspent, verdict);
  addRound(decision, verdict);
}

/** Rework never reopens a step: it adds one for each key to repeat, with the reasons as feedback. */
export function addRound(decision: Decision, verdict: Pick<Verdict, 'reasons'>, replayOf: string | null = null): void {
  const { plan, task } = decision.state;
  if (plan.validation === null) return;
  const judge = plan.validation.step;
  const round = task.round + 1;
  const repeated = new Set([...plan.validation.rework, judge]);
  const latest = (key: string) => findLatest(decision.state, key)?.stepId ?? key;
  const evidence = planEvidence(decision.state, verdict.reasons, repeated.size, round);
  const found = evidence.map((step) => step.stepId);
  const added = plan.steps
    .filter((step) => repeated.has(step.key))
    .map((step) => ({
      ...newStep(`${step.key}#${round}`, step.key, step.role, step.executor, [
        ...step.after.map((key) => (repeated.has(key) ? `${key}#${round}` : latest(key))),
        ...(step.key === judge ? [] : found),
      ]),
      supersedes: latest(step.key),
      round,
      feedback: verdict.reasons,
      replayOf: step.key === judge ? replayOf : null,
    }));
  decision.emit({ kind: 'task_reworked', round });
  for (const step of [...evidence, ...added]) decision.emit({ kind: 'step_added', step });
  settle(decision, 'verdict_rework');
}

/** Why another round would only repeat this one; null while another may help. */
function findStandstill(decision: Decision, judge: Step, verdict: Verdict): string | null {
  if (judge.supersedes === null) return null;
  const { state } = decision;
  if (judge.feedback !== null && canonicalJson(judge.feedback) === canonicalJson(verdict.reasons))
    return 'the validator repeats its complaint';
  const same = (state.plan.validation?.rework ?? []).every((key) => {
    const now = findLatest(state, key);
    const before = state.steps.find((step) => step.stepId === now?.supersedes);
    return now !== undefined && before !== undefined && canonicalJson(now.output) === canonicalJson(before.output);
  });
  return same ? 'the reworked output is the same' : null;
}

function giveUp(
  decision: Decision,
  judge: Step,
  on: string,
  code: 'VALIDATION_REJECTED' | 'VALIDATION_EXHAUSTED',
  message: string,
  verdict: Verdict,
): void {
  const reasons = verdict.reasons.slice(0, 20);
  const error: ErrorBody = {
    code,
    disposition: 'terminal',
    message: toStorableText(
      [message, ...reasons.slice(0, 3).map((reason) => reason.message)].join('; '),
      MAX_ERROR_MESSAGE,
    ),
    details: { reasons },
  };
  decision.emit({ kind: 'letter_written', stepId: judge.stepId, error, replayOf: judge.replayOf });
  failTask(decision, on, error);
}
