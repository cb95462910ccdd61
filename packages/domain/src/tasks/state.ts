import type { ErrorBody, JsonObject, Pin, Plan, Priority, TaskState, VerdictReason } from '@cleanslate/contracts';

/**
 * Glossary. A *step* is a node of the task's plan. Its *phase* refines its state: `blocked`, `ready`, `dispatched` and
 * `backing_off` are all `pending`. An *attempt* is one numbered dispatch; `spent` is what the retry policy counts;
 * `ring` counts the doorbells of one attempt. The *claim* is one worker's right to an attempt. All times are
 * milliseconds since 1970 by the database's clock.
 */
export type Phase = 'blocked' | 'ready' | 'dispatched' | 'executing' | 'backing_off' | 'done' | 'failed';

/**
 * `evidence`: added because the validator named evidence that is missing. `compensation`: undoes the step
 * that its id names after `undo-`.
 */
export type Purpose = 'work' | 'evidence' | 'compensation';

export type Failure = { readonly at: number; readonly attempt: number; readonly error: ErrorBody };

export type Step = {
  readonly stepId: string;
  readonly planKey: string;
  readonly supersedes: string | null;
  readonly purpose: Purpose;
  readonly role: string;
  readonly executor: string;
  /** Step ids that must be done first. */
  readonly after: readonly string[];
  readonly state: TaskState;
  readonly phase: Phase;
  readonly round: number;
  readonly attempt: number;
  readonly spent: number;
  readonly ring: number;
  /** Claims granted that no heartbeat ever named; the first few cost nothing. */
  readonly silentClaims: number;
  readonly claimId: string | null;
  readonly worker: string | null;
  /** A heartbeat has named the claim. */
  readonly beaten: boolean;
  /** `attempt:claim` of every report applied. */
  readonly applied: readonly string[];
  readonly dueAt: number | null;
  readonly timeoutAt: number | null;
  readonly queueExpiresAt: number | null;
  readonly readyAt: number | null;
  readonly doorbellSeq: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly output: JsonObject | null;
  /** An operator's input in the place of what the plan maps. */
  readonly inputEdit?: JsonObject | null;
  readonly feedback: readonly VerdictReason[] | null;
  readonly error: ErrorBody | null;
  readonly failures: readonly Failure[];
  readonly candidates: readonly string[];
  /** The dead letter whose replay this attempt is. */
  readonly replayOf: string | null;
  /** Model tokens of all its attempts. */
  readonly tokens: number;
  /** In a fork: the step of the old task whose result this is. */
  readonly copiedFrom: string | null;
};

/** What a person is, or was, asked about: the exact result with this hash, once. */
export type GateState = {
  /** The step whose output it is; behind a gate after validation, the validation step. */
  readonly stepId: string;
  readonly sha256: string;
  /** Exactly what was hashed, while the gate is open. */
  readonly result: unknown;
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly onExpiry: 'reject' | 'approve';
  /** Null while the gate is open. */
  readonly decision: 'approved' | 'rejected' | 'edited' | null;
  readonly by: 'person' | 'expiry' | null;
  readonly decidedAt: number | null;
  /** What stands in for the result, where a person edited it. */
  readonly edited: unknown;
};

export type Task = {
  readonly tenantId: string;
  readonly taskId: string;
  readonly idempotencyKey: string | null;
  readonly bodyHash: string;
  readonly submitId: string;
  readonly workflow: string;
  readonly planHash: string;
  readonly state: TaskState;
  readonly priority: Priority;
  readonly round: number;
  readonly roundBase: number;
  readonly input: JsonObject;
  readonly result: unknown;
  readonly error: ErrorBody | null;
  readonly pin: Pin;
  readonly deadline: number;
  readonly deadlineMs: number;
  readonly traceparent: string | null;
  /** While completed steps are being compensated: what the task fails with once that has ended. */
  readonly failing: { readonly on: string; readonly error: ErrorBody } | null;
  readonly gate: GateState | null;
  /** The task that this one is a fork of. */
  readonly forkedFrom: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A task with its steps and its plan: what one decision sees and changes. */
export type Aggregate = {
  readonly epoch: number;
  readonly task: Task;
  /** In order of creation. */
  readonly steps: readonly Step[];
  readonly plan: Plan;
};

/** Durations that decisions need; configured once per platform. */
export type MachineOptions = {
  readonly leaseMs: number;
  /** A ready step that admission has not looked at for this long counts as overdue. */
  readonly admissionLookMs: number;
  readonly ringCheckMs: number;
  /** Doorbells of one attempt that may vanish before it is given up on. */
  readonly maxRings: number;
  /**
   * Claims of one step that may end before any heartbeat named them and spend nothing: their worker may never have
   * heard that it has them. Those beyond count as an attempt.
   */
  readonly silentClaims: number;
};

export const MACHINE_DEFAULTS: MachineOptions = {
  leaseMs: 30_000,
  admissionLookMs: 10_000,
  ringCheckMs: 30_000,
  maxRings: 20,
  silentClaims: 3,
};

const places = new WeakMap<Plan, ReadonlyMap<string, number>>();

/** Where a plan has its steps; a task has them in the same places, and what was added later behind them. */
function placesOf(plan: Plan): ReadonlyMap<string, number> {
  const known = places.get(plan);
  if (known !== undefined) return known;
  const found = new Map(plan.steps.map((step, place) => [step.key, place]));
  places.set(plan, found);
  return found;
}

export function findStep({ plan, steps }: Pick<Aggregate, 'plan' | 'steps'>, stepId: string): Step | undefined {
  const step = steps[placesOf(plan).get(stepId) ?? -1];
  return step?.stepId === stepId ? step : steps.find((candidate) => candidate.stepId === stepId);
}

/**
 * The newest step of a plan key: `analyze#2` once the second round added it. Not what was added
 * for evidence, or to undo it.
 */
export function findLatest(state: Pick<Aggregate, 'steps'>, planKey: string): Step | undefined {
  return state.steps.findLast((step) => step.planKey === planKey && step.purpose === 'work');
}

/** The step whose output is the verdict; not what might undo it. */
export function isJudge({ plan }: Pick<Aggregate, 'plan'>, step: Step): boolean {
  return step.purpose === 'work' && plan.validation?.step === step.planKey;
}

export function isGateOpen({ gate }: Pick<Task, 'gate'>): boolean {
  return gate !== null && gate.decision === null;
}

export function isActive(step: Step): boolean {
  return step.phase !== 'done' && step.phase !== 'failed';
}
