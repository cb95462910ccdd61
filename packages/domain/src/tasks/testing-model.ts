import type { JsonObject, Plan, StepReport } from '@cleanslate/contracts';
import { type Decided, decide } from './decide.ts';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, isGateOpen, isJudge, type MachineOptions, type Step } from './state.ts';
import { errorOf, given, T0, USAGE, verdictOf } from './testing.ts';
import type { Model, Move } from './testing-explorer.ts';
import { assertState } from './testing-invariants.ts';
import { assertDeaf, assertTransition } from './testing-model-rules.ts';
import { isTerminal } from './transitions.ts';

/**
 * The task machine as a model to be searched whole. Time is taken away: whatever has a due time may run out at any
 * moment and in any order, and the deadline may pass at any moment; that covers every order that real clocks and queues
 * can bring about. What could go on for ever has a budget.
 */
export type Situation = {
  readonly state: Aggregate;
  /** Attempts that may still end for free: outages, hand-backs, silent claims. */
  readonly free: number;
  /** Retries that the operator still has in mind. */
  readonly retries: number;
};
export type Budget = Omit<Situation, 'state'>;
export type Decide = typeof decide;

/** One doorbell may vanish; with the second one gone the step is given up on. */
const OPTIONS: MachineOptions = {
  leaseMs: 30_000,
  admissionLookMs: 10_000,
  ringCheckMs: 30_000,
  maxRings: 2,
  silentClaims: 3,
};

export function modelOf(plan: Plan, budget: Budget, machine: Decide = decide): Model<Situation> {
  return {
    start: { state: given(plan).state, ...budget },
    keyOf,
    movesOf: (situation, depth) => movesOf(machine, situation, T0 + 1 + depth),
    check: ({ state }) => {
      assertState(state);
      assertDeaf((input) => machine(state, input, T0 + 1, OPTIONS), state);
    },
    isEnd: ({ state }) => isTerminal(state.task.state),
  };
}

/** Something that may happen: an input, the state it meets (its timer due), and what it uses up. */
type Chance = {
  readonly label: string;
  readonly input: LedgerInput | null;
  readonly met: Aggregate;
  readonly fair?: boolean;
  readonly free?: number;
  readonly retries?: number;
};

function movesOf(machine: Decide, { state, free, retries }: Situation, now: number): Move<Situation>[] {
  const chances = [...state.steps.flatMap((step) => chancesOfStep(state, step, now)), ...chancesOfTask(state, now)];
  const moves: Move<Situation>[] = [];
  for (const chance of chances) {
    const left = { free: free - (chance.free ?? 0), retries: retries - (chance.retries ?? 0) };
    if (left.free < 0 || left.retries < 0) continue;
    const decided: Decided =
      chance.input === null ? { changes: [], state: chance.met } : machine(chance.met, chance.input, now, OPTIONS);
    if (chance.input !== null) assertTransition(chance.met, chance.input, decided);
    moves.push({ label: chance.label, fair: chance.fair ?? false, to: { state: decided.state, ...left } });
  }
  return moves;
}

function chancesOfStep(state: Aggregate, step: Step, now: number): readonly Chance[] {
  const { stepId, phase } = step;
  const queue: Chance[] =
    step.queueExpiresAt === null || !['ready', 'dispatched', 'backing_off'].includes(phase)
      ? []
      : [
          {
            label: `${stepId}: queue time over`,
            input: { kind: 'queue_due', stepId },
            met: withStep(state, step, { queueExpiresAt: now }),
          },
        ];
  if (phase === 'ready')
    return [...queue, { label: `${stepId}: out`, input: { kind: 'dispatch', stepId }, met: state, fair: true }];
  if (phase === 'backing_off') {
    const met = withStep(state, step, { dueAt: now });
    return [...queue, { label: `${stepId}: due`, input: { kind: 'backoff_due', stepId }, met, fair: true }];
  }
  if (phase === 'dispatched') return [...queue, ...chancesOfDoorbell(state, step, now)];
  return phase === 'executing' ? chancesOfRun(state, step, now) : [];
}

function chancesOfDoorbell(state: Aggregate, step: Step, now: number): readonly Chance[] {
  const { stepId, attempt, ring } = step;
  const fence = fenceOf(state, step, `c${attempt}`);
  const due = withStep(state, step, { dueAt: now });
  return [
    { label: `${stepId}: claimed`, input: { kind: 'claim', fence, worker: 'w' }, met: state, fair: true },
    { label: `${stepId}: doorbell gone`, input: { kind: 'ring_due', stepId, attempt, ring, gone: true }, met: due },
    { label: `${stepId}: unsendable`, input: { kind: 'unsendable', stepId, attempt, message: 'large' }, met: state },
  ];
}

function chancesOfRun(state: Aggregate, step: Step, now: number): readonly Chance[] {
  const { stepId, attempt, claimId } = step;
  const fence = fenceOf(state, step, claimId ?? '');
  const report = (label: string, body: StepReport, more: Partial<Chance> = {}): Chance => ({
    label: `${stepId}: ${label}`,
    input: { kind: 'report', fence, report: body },
    met: state,
    ...more,
  });
  const silent = !step.beaten && step.silentClaims < OPTIONS.silentClaims ? 1 : 0;
  const beats: Chance[] = step.beaten
    ? []
    : [{ label: `${stepId}: heartbeat`, input: null, met: withStep(state, step, { beaten: true }) }];
  return [
    ...beats,
    ...outputsOf(state, step).map(([label, output], i) =>
      report(label, { outcome: 'succeeded', output, usage: USAGE, candidates: [] }, { fair: i === 0 }),
    ),
    report('retryable', { outcome: 'failed', error: errorOf('retryable') }),
    report('terminal', { outcome: 'failed', error: errorOf('terminal') }),
    report('outage', { outcome: 'failed', error: errorOf('pause') }, { free: 1 }),
    report('handed back', { outcome: 'released', reason: 'drain' }, { free: 1 }),
    report('other version', { outcome: 'released', reason: 'UNSUPPORTED_VERSION' }, { free: 1 }),
    {
      label: `${stepId}: lease over`,
      input: { kind: 'lease_due', stepId, attempt, claimId: claimId ?? '' },
      met: withStep(state, step, { dueAt: now }),
      free: silent,
    },
    {
      label: `${stepId}: time-out`,
      input: { kind: 'attempt_timeout_due', stepId, attempt },
      met: withStep(state, step, { timeoutAt: now }),
    },
  ];
}

/** What the step may put out; the first is what a good executor says. */
function outputsOf(state: Aggregate, step: Step): readonly (readonly [label: string, output: JsonObject])[] {
  if (isJudge(state, step))
    return [
      ['pass', verdictOf('pass')],
      ['rework', verdictOf('rework', `complaint of round ${step.round}`)],
      ['the old complaint', verdictOf('rework', 'as ever')],
      ['reject', verdictOf('reject', 'no')],
      ['no verdict', { n: 1 }],
    ];
  // What two sub-goals ask for: side by side, or one behind the other.
  if (step.planKey === state.plan.growth?.from && step.purpose === 'work')
    return [
      ['asks for one', asking([])],
      ['asks for two', asking([], [])],
      ['asks for a chain', asking([], ['g1'])],
      ['asks for a cycle', asking(['g2'], [])],
    ];
  const made: readonly [string, JsonObject] = ['ok', { by: step.stepId, n: 1 }];
  return state.plan.validation === null ? [made] : [made, ['the same again', { n: 0 }]];
}

/** A sub-goal for each list of those that it needs. */
function asking(...needs: readonly (readonly string[])[]): JsonObject {
  return { subGoals: needs.map((needed, i) => ({ id: `g${i + 1}`, needs: [...needed] })) };
}

function chancesOfTask(state: Aggregate, now: number): readonly Chance[] {
  const { task } = state;
  if (isTerminal(task.state)) {
    const letters = [null, ...state.steps.filter((step) => step.phase === 'failed').map((step) => step.stepId)];
    if (task.state === 'completed') return [];
    return letters.map((stepId) => ({
      label: stepId === null ? 'retry' : `replay ${stepId}`,
      input: { kind: 'retry', letter: stepId === null ? null : { letterId: 'letter', stepId } },
      met: state,
      retries: 1,
    }));
  }
  const late = task.deadline <= now;
  return [
    { label: 'cancel', input: { kind: 'cancel', reason: 'no' }, met: state },
    late
      ? { label: 'deadline', input: { kind: 'deadline_due' }, met: state }
      : { label: '(deadline passes)', input: null, met: withLate(state, now) },
    ...chancesOfGate(state, now),
  ];
}

function chancesOfGate(state: Aggregate, now: number): readonly Chance[] {
  const { gate } = state.task;
  if (gate === null || !isGateOpen(state.task)) return [];
  const { sha256 } = gate;
  const expired = { ...state, task: { ...state.task, gate: { ...gate, expiresAt: now } } };
  return [
    { label: 'approve', input: { kind: 'gate', action: 'approve', sha256 }, met: state, fair: true },
    { label: 'edit', input: { kind: 'gate', action: 'edit', sha256, result: { n: 9 } }, met: state },
    { label: 'reject', input: { kind: 'gate', action: 'reject', sha256, reason: 'no' }, met: state },
    { label: 'approve, too late', input: { kind: 'gate', action: 'approve', sha256 }, met: expired },
    { label: 'gate expires', input: { kind: 'gate_due' }, met: expired },
  ];
}

function withStep(state: Aggregate, step: Step, change: Partial<Step>): Aggregate {
  return { ...state, steps: state.steps.map((each) => (each === step ? { ...step, ...change } : each)) };
}

/** No attempt outlives its task: with the deadline every time-out is over too. */
function withLate(state: Aggregate, now: number): Aggregate {
  const steps = state.steps.map((step) => (step.timeoutAt === null ? step : { ...step, timeoutAt: now }));
  return { ...state, task: { ...state.task, deadline: now }, steps };
}

function fenceOf({ epoch, task }: Aggregate, { stepId, attempt }: Step, claimId: string) {
  return { epoch, tenantId: task.tenantId, taskId: task.taskId, stepId, attempt, claimId };
}

/**
 * All that decisions look at: no times and no attempt numbers, and of a step that has ended
 * only what others read of it.
 */
function keyOf({ state: { task, steps, plan }, free, retries }: Situation): string {
  const isUndone = plan.steps.some((step) => step.compensate !== undefined);
  const order = isUndone ? [...new Set(steps.map((step) => step.endedAt ?? 0))].sort((a, b) => a - b) : [];
  const parts = steps.map(
    (step) => `${step.stepId} ${step.phase} ${keyOfStep(step)} ${order.indexOf(step.endedAt ?? 0)}`,
  );
  const { gate, failing, error, state, round, roundBase } = task;
  const gateKey = gate && [gate.stepId, gate.decision].join();
  if (isTerminal(state) && retries === 0) return [state, error?.code, gateKey, round, ...parts].join('|');
  const isLate = !isTerminal(state) && task.deadline - task.updatedAt < 100_000;
  return [free, retries, state, round, roundBase, isLate, error?.code, failing?.error.code, gateKey, ...parts].join(
    '|',
  );
}

function keyOfStep(step: Step): string {
  const { phase, error, replayOf, feedback } = step;
  if (phase === 'done') return JSON.stringify(step.output);
  if (phase === 'failed') return error?.code ?? '';
  const asked = feedback?.[0]?.message;
  if (phase === 'blocked') return [replayOf, asked].join();
  const waits = [step.queueExpiresAt !== null, error?.code === 'UNSUPPORTED_VERSION'];
  const now = phase === 'dispatched' ? step.ring : phase === 'executing' ? step.beaten : '';
  return [step.spent, step.silentClaims, replayOf, asked, waits, now].join();
}
