import { type ErrorBody, MAX_ERROR_MESSAGE, toStorableText, type Usage, Verdict } from '@cleanslate/contracts';
import { holdsClaim } from './decide-claim.ts';
import { decideDeadline } from './decide-control.ts';
import type { Decision } from './decision.ts';
import { appliedKey, isPauseCode } from './evolve.ts';
import { findGrowthFault, planGrowth } from './growth.ts';
import type { LedgerInput } from './inputs.ts';
import { closeLetter, settle } from './progress.ts';
import { backoffMs } from './retry.ts';
import { isJudge, type Step } from './state.ts';
import { applyVerdict } from './validation-round.ts';

/**
 * How long work waits that a worker handed back because of an outage or a version it can't read, unless the report says
 * otherwise.
 */
const PAUSE_MS = 5_000;
/** Codes that a worker reports if broker or database were away while it worked. */
const OUTAGE_CODES: ReadonlySet<string> = new Set(['BROKER_UNAVAILABLE', 'DATABASE_UNAVAILABLE']);
const OUTAGE_MS = 1_000;
const MAX_TOKENS = 1_000_000_000;

/**
 * Codes that only the machine may give a step: an executor that used one could pass its failure off as a step nobody
 * needed.
 */
const RESERVED_CODES: ReadonlySet<string> = new Set(['NOT_NEEDED', 'DEPENDENCY_FAILED', 'SUPERSEDED']);

export function decideReport(decision: Decision, input: Extract<LedgerInput, { kind: 'report' }>): void {
  const { fence, report } = input;
  const step = decision.step(fence.stepId);
  if (step?.applied.includes(appliedKey(fence.attempt, fence.claimId)) && fence.epoch === decision.state.epoch) return;
  const foreign = input.role !== undefined && input.role !== step?.role;
  if (step === undefined || foreign || !holdsClaim(decision.state.epoch, step, fence)) {
    const { stepId, attempt, claimId } = fence;
    return decision.refuse('STALE_ATTEMPT', `report "${report.outcome}" without the winning claim`, {
      stepId,
      attempt,
      claimId,
    });
  }
  const tokens = 'usage' in report ? tokensOf(report.usage) : 0;
  if (tokens > 0) decision.emit({ kind: 'usage_counted', stepId: step.stepId, tokens });
  if (report.outcome === 'succeeded') return succeed(decision, step, report);
  if (report.outcome === 'failed') return failAttempt(decision, step, 'report_failed', report.error, report.raw);
  const dueInMs = report.dueInMs ?? (isPauseCode(report.reason) ? PAUSE_MS : 0);
  decision.emit({
    kind: 'step_released',
    stepId: step.stepId,
    on: 'released',
    reason: report.reason,
    // No later than the deadline, whatever a worker asks for: a due time beyond what a timestamp can hold would stop
    // the ledger.
    dueAt: decision.now + Math.max(0, Math.min(dueInMs, decision.state.task.deadline - decision.now)),
  });
}

function succeed(
  decision: Decision,
  step: Step,
  report: Extract<Extract<LedgerInput, { kind: 'report' }>['report'], { outcome: 'succeeded' }>,
): void {
  const verdict = isJudge(decision.state, step) ? Verdict.safeParse(report.output) : undefined;
  if (verdict?.success === false) {
    // A verdict nobody can read (a refusal, broken JSON) is the validator's fault, not the result's: it is asked again,
    // and counted with its other faults.
    const message = `the validation step "${step.stepId}" put out no verdict: ${verdict.error.issues[0]?.path.join('.')} ${verdict.error.issues[0]?.message}`;
    return failAttempt(decision, step, 'report_failed', { code: 'OUTPUT_CONTRACT', disposition: 'retryable', message });
  }
  const fault = findGrowthFault(decision.state, step, report.output);
  if (fault !== undefined) return failAttempt(decision, step, 'report_failed', fault);
  const grown = planGrowth(decision.state, step, report.output);
  closeLetter(decision, step);
  decision.emit({ kind: 'step_succeeded', stepId: step.stepId, output: report.output, candidates: report.candidates });
  for (const added of grown) decision.emit({ kind: 'step_added', step: added });
  if (verdict === undefined) return settle(decision, 'report_succeeded');
  applyVerdict(decision, step, verdict.data);
}

/**
 * One attempt failed: back off while the policy allows, hand back for free in an outage, otherwise give up the step and
 * its task.
 */
export function failAttempt(decision: Decision, step: Step, on: string, error: ErrorBody, raw?: string): void {
  const { state, now } = decision;
  // The worker's own timer ended it at the task's deadline: the sweep may simply be late to say so.
  if (error.code === 'ATTEMPT_TIMEOUT' && now >= state.task.deadline) return decideDeadline(decision);
  const policy = state.plan.steps.find((planned) => planned.key === step.planKey)?.retry ?? {
    maxAttempts: 1,
    baseMs: 1_000,
    maxMs: 1_000,
  };
  const seed = `${state.task.tenantId}/${state.task.taskId}/${step.stepId}/${step.attempt}`;
  const delay = (floor: number) =>
    Math.min(now + backoffMs(policy, step.spent, seed, Math.max(floor, error.retryAfterMs ?? 0)), state.task.deadline);
  // An outage is nobody's failure: it raises the attempt, never what is spent. The queue's time and the task's deadline
  // keep running.
  const floor = error.disposition === 'pause' ? PAUSE_MS : OUTAGE_CODES.has(error.code) ? OUTAGE_MS : null;
  if (floor !== null) {
    return decision.emit({
      kind: 'step_backed_off',
      stepId: step.stepId,
      on,
      error,
      dueAt: delay(floor),
      spends: false,
    });
  }
  if (error.disposition === 'retryable' && step.spent + 1 < policy.maxAttempts) {
    return decision.emit({ kind: 'step_backed_off', stepId: step.stepId, on, error, dueAt: delay(0), spends: true });
  }
  const final: ErrorBody =
    error.disposition === 'retryable' && policy.maxAttempts > 1
      ? {
          code: 'ATTEMPTS_EXHAUSTED',
          disposition: 'terminal',
          message: toStorableText(
            `${policy.maxAttempts} attempts failed; the last: ${error.message}`,
            MAX_ERROR_MESSAGE,
          ),
          details: { last: error },
        }
      : error;
  giveUpStep(decision, step, on, final, { last: error, ...(raw === undefined ? {} : { raw }) });
}

/**
 * Ends a step as failed with a dead letter, and with it the task if that can no longer do without the step. `last` is
 * what its last attempt failed with, `raw` the bytes nobody could read.
 */
export function giveUpStep(
  decision: Decision,
  step: Step,
  on: string,
  error: ErrorBody,
  { last = error, raw }: { readonly last?: ErrorBody; readonly raw?: string } = {},
): void {
  // The new letter records the outcome of a replay and continues its history.
  closeLetter(decision, step);
  decision.emit({
    kind: 'step_failed',
    stepId: step.stepId,
    on,
    spends: true,
    error: RESERVED_CODES.has(error.code) ? { ...error, code: 'EXECUTOR_FAILED' } : error,
    ...(last === error ? {} : { last }),
  });
  decision.emit({
    kind: 'letter_written',
    stepId: step.stepId,
    error,
    replayOf: step.replayOf,
    ...(raw === undefined ? {} : { raw }),
  });
  settle(decision, on);
}

function tokensOf(usage: Usage | undefined): number {
  // Bounded, so that no sum over attempts and rounds leaves the safe integers.
  return Math.min((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), MAX_TOKENS);
}
