import type { ClaimAnswer, Fence } from '@cleanslate/contracts';
import { decideDeadline } from './decide-control.ts';
import type { Decision } from './decision.ts';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, findStep, type MachineOptions, type Step } from './state.ts';
import { isTerminal } from './transitions.ts';

/** The first claim of a dispatched attempt wins; every other one changes nothing and learns so from `answerClaim`. */
export function decideClaim(decision: Decision, input: Extract<LedgerInput, { kind: 'claim' }>): void {
  const { fence } = input;
  const { state, now, options } = decision;
  const step = decision.step(fence.stepId);
  if (step === undefined || isTerminal(state.task.state) || fence.epoch !== state.epoch) return;
  if (input.role !== undefined && input.role !== step.role) return;
  if (step.phase !== 'dispatched' || step.attempt !== fence.attempt) return;
  // Its timer may be late; a result handed in with its claim must not slip in before it.
  if (now >= state.task.deadline) return decideDeadline(decision);
  const timeoutMs = state.plan.steps.find((planned) => planned.key === step.planKey)?.timeoutMs ?? options.leaseMs;
  decision.emit({
    kind: 'step_claimed',
    stepId: step.stepId,
    claimId: fence.claimId,
    worker: input.worker,
    dueAt: now + options.leaseMs,
    timeoutAt: Math.min(now + timeoutMs, state.task.deadline),
  });
}

/** True while `fence` is the winning claim of a running attempt. */
export function holdsClaim(
  epoch: number,
  step: Step | undefined,
  fence: Pick<Fence, 'epoch' | 'attempt' | 'claimId'>,
): boolean {
  return (
    step !== undefined &&
    step.phase === 'executing' &&
    fence.epoch === epoch &&
    step.attempt === fence.attempt &&
    step.claimId === fence.claimId
  );
}

/** The answer to a claim, read from the state after the decision: asking again with the winning id is granted again. */
export function answerClaim(
  state: Aggregate | undefined,
  fence: Fence,
  now: number,
  options: MachineOptions,
): ClaimAnswer {
  const { claimId, ...attempt } = fence;
  const answer = (word: ClaimAnswer['answer']): ClaimAnswer => ({ attempt, claimId, answer: word });
  const step = state === undefined ? undefined : findStep(state, fence.stepId);
  if (state === undefined || step === undefined) return answer('over');
  if (holdsClaim(state.epoch, step, fence)) {
    return {
      ...answer('granted'),
      leaseMs: options.leaseMs,
      remainingMs: Math.max(1, (step.timeoutAt ?? state.task.deadline) - now),
      deadline: new Date(state.task.deadline).toISOString(),
    };
  }
  const running = step.phase === 'executing' && step.attempt === fence.attempt && fence.epoch === state.epoch;
  return answer(running ? 'lost' : 'over');
}
