import type { ErrorBody, JsonObject, StepReport, Verdict } from '@cleanslate/contracts';
import fc from 'fast-check';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, isGateOpen, type Step } from './state.ts';
import { USAGE, verdictOf } from './testing.ts';

/**
 * Random inputs. A move is drawn without knowing the task, and read against the state it meets, so that a failing run
 * shrinks; the same move may thus be well-behaved (the next thing that ought to happen to a step), a repetition of
 * any earlier input, or made up.
 */
export type Move = {
  readonly manner: 'good' | 'repeat' | 'hostile' | 'control';
  readonly pick: number;
  readonly elapsedMs: number;
  readonly report: StepReport;
  readonly kind: LedgerInput['kind'];
  readonly shift: number;
  readonly claimId: string;
  readonly epoch: number;
  readonly flag: boolean;
};

const errors: fc.Arbitrary<ErrorBody> = fc.record(
  {
    code: fc.constantFrom(
      ...(['EXECUTOR_FAILED', 'UNSUPPORTED_VERSION', 'BROKER_UNAVAILABLE', 'ATTEMPT_TIMEOUT', 'NOT_NEEDED'] as const),
    ),
    disposition: fc.oneof(
      { weight: 8, arbitrary: fc.constant('retryable' as const) },
      { weight: 2, arbitrary: fc.constantFrom('pause' as const, 'terminal' as const, 'conflict' as const) },
    ),
    message: fc.constantFrom('', 'it broke', 'again', 'x'.repeat(4_100)),
    retryAfterMs: fc.constantFrom(0, 3_000, Number.MAX_SAFE_INTEGER),
  },
  { requiredKeys: ['code', 'disposition', 'message'] },
);

const outputs: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ n: fc.nat(3) }),
  fc
    .constantFrom('pass', 'rework', 'rework', 'reject')
    .chain((decision) => fc.nat(5).map((n) => withQuery(verdictOf(decision, `complaint ${n}`), n))),
);

const candidates = fc.constantFrom<string[]>([], ['c1', 'c2']);
const succeeded: fc.Arbitrary<StepReport> = fc.record({
  outcome: fc.constant('succeeded'),
  output: outputs,
  usage: fc.constantFrom(USAGE, { ...USAGE, inputTokens: 20, outputTokens: 5 }),
  candidates,
});
const failed: fc.Arbitrary<StepReport> = fc.record({ outcome: fc.constant('failed'), error: errors });
const released: fc.Arbitrary<StepReport> = fc.record(
  {
    outcome: fc.constant('released'),
    reason: fc.constantFrom('drain', 'UNSUPPORTED_VERSION', 'toString', 'x'.repeat(200)),
    dueInMs: fc.constantFrom(0, 2_000, Number.MAX_SAFE_INTEGER),
  },
  { requiredKeys: ['outcome', 'reason'] },
);

const KINDS = [
  'dispatch',
  'claim',
  'report',
  'lease_due',
  'attempt_timeout_due',
  'backoff_due',
  'queue_due',
  'ring_due',
  'unsendable',
  'deadline_due',
  'cancel',
  'retry',
  'gate',
  'gate_due',
] as const satisfies readonly LedgerInput['kind'][];

export const arbitraryMove: fc.Arbitrary<Move> = fc.record({
  manner: fc.oneof(
    { weight: 80, arbitrary: fc.constant('good' as const) },
    { weight: 10, arbitrary: fc.constant('repeat' as const) },
    { weight: 15, arbitrary: fc.constant('hostile' as const) },
    { weight: 1, arbitrary: fc.constant('control' as const) },
  ),
  pick: fc.nat(1_000),
  elapsedMs: fc.oneof(
    { weight: 60, arbitrary: fc.nat(500) },
    { weight: 6, arbitrary: fc.integer({ min: -60_000, max: 60_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(400 * 86_400_000, -400 * 86_400_000) },
  ),
  report: fc.oneof(
    { weight: 7, arbitrary: succeeded },
    { weight: 2, arbitrary: failed },
    { weight: 1, arbitrary: released },
  ),
  kind: fc.constantFrom(...KINDS),
  shift: fc.integer({ min: -2, max: 2 }),
  claimId: fc.constantFrom('claim-a', 'claim-b', 'claim-c'),
  epoch: fc.constantFrom(1, 1, 2),
  flag: fc.boolean(),
});

/** The input that a move means here; null where a well-behaved platform would do nothing. */
export function toInput(state: Aggregate, move: Move, earlier: readonly LedgerInput[]): LedgerInput | null {
  switch (move.manner) {
    case 'good': {
      if (state.task.state === 'failed' && move.pick % 3 === 0) return toControl(state, move);
      if (isGateOpen(state.task) && move.pick % 4 === 0) return toDecision(state, move);
      const open = state.steps.filter((step) => step.phase !== 'blocked' && step.dueAt !== null);
      const step = open[move.pick % Math.max(1, open.length)];
      if (step === undefined) return isGateOpen(state.task) ? toDecision(state, move) : null;
      return toNext(state, step, move);
    }
    case 'repeat':
      return earlier[move.pick % Math.max(1, earlier.length)] ?? null;
    case 'control':
      return toControl(state, move);
    case 'hostile':
      return toHostile(state, move);
  }
}

/** What ought to happen to this step next. */
function toNext(state: Aggregate, step: Step, move: Move): LedgerInput {
  const { stepId, attempt, ring } = step;
  const fence = { epoch: state.epoch, tenantId: 'acme', taskId: 'task-1', stepId, attempt };
  switch (step.phase) {
    case 'ready':
      return { kind: 'dispatch', stepId };
    case 'dispatched':
      return move.pick % 20 === 0
        ? { kind: 'ring_due', stepId, attempt, ring, gone: move.flag }
        : { kind: 'claim', fence: { ...fence, claimId: move.claimId }, worker: `worker-${move.claimId}` };
    case 'executing':
      return move.pick % 20 === 0
        ? { kind: 'lease_due', stepId, attempt, claimId: step.claimId ?? '' }
        : { kind: 'report', fence: { ...fence, claimId: step.claimId ?? '' }, report: toFitting(state, step, move) };
    default:
      return { kind: 'backoff_due', stepId };
  }
}

/** What a person, or the clock, says to an open gate. */
function toDecision({ task }: Aggregate, { pick, flag }: Move): LedgerInput {
  const sha256 = task.gate?.sha256 ?? '';
  if (flag) return { kind: 'gate', action: 'approve', sha256 };
  if (pick % 3 === 0) return { kind: 'gate_due' };
  if (pick % 3 === 1) return { kind: 'gate', action: 'edit', sha256, result: { n: pick } };
  return { kind: 'gate', action: 'reject', sha256, reason: 'no' };
}

/** A validator mostly puts out verdicts. */
function toFitting(state: Aggregate, step: Step, { report, pick }: Move): StepReport {
  if (step.planKey !== state.plan.validation?.step || report.outcome !== 'succeeded' || pick % 10 === 0) return report;
  if ('decision' in report.output) return report;
  return { ...report, output: withQuery(verdictOf(pick % 3 === 0 ? 'pass' : 'rework', `complaint ${pick}`), pick) };
}

function toControl(state: Aggregate, move: Move): LedgerInput {
  if (state.task.state === 'failed') {
    const step = state.steps[move.pick % state.steps.length];
    const letter = move.flag && step !== undefined ? { letterId: `letter-${move.pick}`, stepId: step.stepId } : null;
    return { kind: 'retry', letter };
  }
  return move.flag ? { kind: 'cancel', reason: 'not wanted' } : { kind: 'deadline_due' };
}

/** Any input about any step, known or not, with a fence that may be wrong in any part. */
function toHostile(state: Aggregate, { kind, pick, shift, claimId, epoch, flag, report }: Move): LedgerInput {
  const step = state.steps[pick % (state.steps.length + 1)];
  const stepId = step?.stepId ?? (flag ? 'nobody' : '__proto__');
  const attempt = (step?.attempt ?? 0) + shift;
  const claim = flag ? (step?.claimId ?? claimId) : claimId;
  const fence = { epoch, tenantId: 'acme', taskId: 'task-1', stepId, attempt, claimId: claim };
  switch (kind) {
    case 'claim':
      return { kind, fence, worker: `worker-${claimId}` };
    case 'report':
      return { kind, fence, report };
    case 'lease_due':
      return { kind, stepId, attempt, claimId: claim };
    case 'attempt_timeout_due':
      return { kind, stepId, attempt };
    case 'unsendable':
      // As strong as a cancel: now and then, so that stories go on.
      return pick % 8 === 0 ? { kind, stepId, attempt, message: 'too large' } : { kind: 'queue_due', stepId };
    case 'ring_due':
      return { kind, stepId, attempt, ring: (step?.ring ?? 0) + shift, gone: flag };
    case 'gate':
      return { kind, action: 'approve', sha256: flag ? (state.task.gate?.sha256 ?? '') : 'another' };
    case 'gate_due':
    case 'deadline_due':
      return { kind };
    case 'cancel':
    case 'retry':
      // Too strong to be thrown in often: a cancelled task has no more story.
      return pick % 8 === 0
        ? toControl(state, { manner: 'control', pick, flag } as Move)
        : { kind: 'queue_due', stepId };
    default:
      return { kind, stepId };
  }
}

/** Now and then the complaint is that evidence is missing. */
function withQuery(verdict: Verdict, n: number): Verdict {
  if (n % 2 === 0) return verdict;
  return { ...verdict, reasons: verdict.reasons.map((reason) => ({ ...reason, evidence: `evidence ${n}` })) };
}
