import type { ErrorBody, Fence, JsonObject, Plan, PlanStep, StepReport, Verdict } from '@cleanslate/contracts';
import { accept } from './accept.ts';
import { checkPlan } from './check-plan.ts';
import { decide } from './decide.ts';
import type { Change } from './decision.ts';
import type { LedgerEvent } from './events.ts';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, findStep, MACHINE_DEFAULTS, type MachineOptions, type Step } from './state.ts';

/** Fixtures of the machine's tests: plans in a line each, and a story of inputs that reads given / when / then. */

export const T0 = Date.UTC(2026, 0, 1);
export const OPTIONS: MachineOptions = MACHINE_DEFAULTS;
export const DEADLINE_MS = 3_600_000;

export function planStep(key: string, after: readonly string[] = [], change: Partial<PlanStep> = {}): PlanStep {
  return {
    key,
    role: 'analyzer',
    executor: `test/${key}`,
    after: [...after],
    input: Object.fromEntries(after.map((parent) => [parent, { from: `steps.${parent}.output` }])),
    timeoutMs: 60_000,
    queueTtlMs: 600_000,
    retry: { maxAttempts: 3, baseMs: 1_000, maxMs: 8_000 },
    ...change,
  };
}

export function planOf(steps: readonly PlanStep[], change: Partial<Plan> = {}): Plan {
  return checkPlan({
    workflow: 'test',
    inputSchema: { type: 'object' },
    documents: [],
    steps,
    validation: null,
    result: { from: `steps.${steps.at(-1)?.key}.output` },
    ...change,
  });
}

/** Steps one after the other. */
export function chain(...keys: readonly string[]): Plan {
  return planOf(keys.map((key, i) => planStep(key, keys.slice(Math.max(0, i - 1), i))));
}

/** `work`, then `check`, whose output is the verdict on it. */
export function judged(maxRounds = 3): Plan {
  return planOf([planStep('work'), planStep('check', ['work'], { role: 'validator' })], {
    validation: { step: 'check', rework: ['work'], maxRounds },
    result: { from: 'steps.work.output' },
  });
}

/** `left` and `right` after `fork`, `join` after both. */
export function diamond(): Plan {
  return planOf([
    planStep('fork'),
    planStep('left', ['fork']),
    planStep('right', ['fork']),
    planStep('join', ['left', 'right']),
  ]);
}

export function errorOf(disposition: ErrorBody['disposition'], change: Partial<ErrorBody> = {}): ErrorBody {
  return { code: 'EXECUTOR_FAILED', disposition, message: 'it broke', ...change };
}

export function verdictOf(decision: Verdict['decision'], ...complaints: readonly string[]): Verdict {
  const reasons = complaints.map((message) => ({ code: 'WRONG', path: 'a', message, remedy: 'mend it' }));
  return { decision, score: 0.8, checks: [], reasons };
}

export const USAGE = { durationMs: 5 };

/** A task's story so far: each call is one input, and gives the story after it. */
export type Story = {
  readonly state: Aggregate;
  readonly now: number;
  /** What the last input changed. */
  readonly changes: readonly Change[];
  readonly events: readonly LedgerEvent[];
  /** Kinds of the last input's events, with their step: `step_failed left`. */
  readonly told: readonly string[];
  readonly step: (stepId: string) => Step;
  readonly fence: (stepId: string, change?: Partial<Fence>) => Fence;
  readonly when: (input: LedgerInput) => Story;
  readonly later: (ms: number) => Story;
  readonly dispatch: (stepId: string) => Story;
  readonly claim: (stepId: string, change?: Partial<Fence>) => Story;
  /** The heartbeat of a step's worker was heard; the store does that without a decision. */
  readonly beat: (stepId: string) => Story;
  readonly report: (stepId: string, report: StepReport, change?: Partial<Fence>) => Story;
  readonly succeed: (stepId: string, output?: JsonObject) => Story;
  readonly fail: (stepId: string, error?: ErrorBody) => Story;
  /** Dispatches, claims and, with an output, reports. */
  readonly run: (stepId: string, output?: JsonObject) => Story;
  readonly start: (stepId: string) => Story;
};

export function given(
  plan: Plan,
  change: { input?: JsonObject; deadlineMs?: number; traceparent?: string } = {},
): Story {
  const decided = accept(
    1,
    {
      tenantId: 'acme',
      taskId: 'task-1',
      submitId: 'submit-1',
      bodyHash: 'b',
      planHash: 'p',
      plan,
      pin: { validAt: new Date(T0).toISOString(), revision: 7 },
      traceparent: change.traceparent ?? null,
      submit: { workflow: 'test', input: change.input ?? {}, deadlineMs: change.deadlineMs ?? DEADLINE_MS },
    },
    T0,
    OPTIONS,
  );
  return storyAt(decided.state, T0, decided.changes);
}

export function storyAt(state: Aggregate, now: number, changes: readonly Change[] = []): Story {
  const events = changes.map((change) => change.event);
  const step = (stepId: string) => getStep(state, stepId);
  const fence = (stepId: string, change: Partial<Fence> = {}): Fence => {
    const { attempt, claimId } = step(stepId);
    return { epoch: 1, tenantId: 'acme', taskId: 'task-1', stepId, attempt, claimId: claimId ?? 'claim-1', ...change };
  };
  const when = (input: LedgerInput) => {
    const decided = decide(state, input, now, OPTIONS);
    return storyAt(decided.state, now, decided.changes);
  };
  const report = (stepId: string, body: StepReport, change: Partial<Fence> = {}) =>
    when({ kind: 'report', fence: fence(stepId, change), report: body });
  const dispatch = (stepId: string) => when({ kind: 'dispatch', stepId });
  const claim = (stepId: string, change: Partial<Fence> = {}) =>
    when({ kind: 'claim', fence: fence(stepId, change), worker: 'w1' });
  const succeed = (stepId: string, output: JsonObject = {}) =>
    report(stepId, { outcome: 'succeeded', output, usage: USAGE, candidates: [] });
  return {
    state,
    now,
    changes,
    events,
    told: events.map(tell),
    step,
    fence,
    when,
    later: (ms) => storyAt(state, now + ms),
    dispatch,
    claim,
    beat: (stepId) => storyAt(withBeat(state, stepId, now), now),
    report,
    succeed,
    fail: (stepId, error = errorOf('retryable')) => report(stepId, { outcome: 'failed', error }),
    start: (stepId) => dispatch(stepId).claim(stepId),
    run: (stepId, output = {}) => dispatch(stepId).claim(stepId).succeed(stepId, output),
  };
}

/** As the store applies a heartbeat: the lease moves, the claim is known to be alive. */
export function withBeat(state: Aggregate, stepId: string, now: number): Aggregate {
  return {
    ...state,
    steps: state.steps.map((step) =>
      step.stepId === stepId && step.phase === 'executing'
        ? { ...step, beaten: true, dueAt: now + OPTIONS.leaseMs }
        : step,
    ),
  };
}

function getStep(state: Aggregate, stepId: string): Step {
  const step = findStep(state, stepId);
  if (step === undefined) throw new Error(`the task has no step "${stepId}"`);
  return step;
}

function tell(event: LedgerEvent): string {
  if ('stepId' in event) return `${event.kind} ${event.stepId}`;
  return event.kind === 'step_added' ? `step_added ${event.step.stepId}` : event.kind;
}
