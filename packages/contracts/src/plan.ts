import { z } from 'zod';
import { JsonObject } from './fence.ts';
import { ExecutorName, RoleName, WorkflowName } from './ids.ts';

/** A step's key in its plan; rounds after the first append `#2`, `#3`… to it. */
export const PlanKey = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,47}$/);

/**
 * Where an input field comes from: a path (`input.document`, `steps.analyze.output.findings`, `pin`, `feedback`,
 * `evidence`) or a literal. `steps.<key>` means the latest finished step of that key; `feedback` is the validator's
 * reasons (null in round 1), `evidence` what the steps added for missing evidence found so far: `[{ query, output }]`.
 * In a plan that grows, `subGoal` is the one a step was made for (null elsewhere), and `subGoals` what has been found
 * for those it waits for: `[{ subGoal, output }]`.
 */
export const Mapping = z.union([
  z.strictObject({ from: z.string().min(1).max(300) }),
  z.strictObject({ value: z.unknown() }),
]);
export type Mapping = z.infer<typeof Mapping>;

export const RetryPolicy = z.strictObject({
  /** Limit of `spent`; 1 means no retry. */
  maxAttempts: z.int().min(1).max(100),
  baseMs: z.int().min(1).max(3_600_000),
  maxMs: z
    .int()
    .min(1)
    .max(24 * 3_600_000),
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/**
 * When a step with several predecessors may run: after all of them (default), after the first, after `quorum` of them,
 * or when all have ended in whatever way. A skipped predecessor counts neither way.
 */
export const Join = z.union([
  z.enum(['all', 'any', 'best_effort']),
  z.strictObject({ quorum: z.int().min(1).max(200) }),
]);
export type Join = z.infer<typeof Join>;

const path = z.string().min(1).max(300);
/** Whether a step runs at all; reads the same paths as mappings. A path that leads nowhere is null. */
export type Condition =
  | { path: string; equals: unknown }
  | { path: string; exists: boolean }
  | { path: string; in: unknown[] }
  | { path: string; atLeast: number }
  | { path: string; atMost: number }
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition };
const conditions = z.lazy(() => z.array(Condition).min(1).max(20));
export const Condition: z.ZodType<Condition> = z.union([
  z.strictObject({ path, equals: z.unknown() }),
  z.strictObject({ path, exists: z.boolean() }),
  z.strictObject({ path, in: z.array(z.unknown()).min(1).max(100) }),
  z.strictObject({ path, atLeast: z.number() }),
  z.strictObject({ path, atMost: z.number() }),
  z.strictObject({ all: conditions }),
  z.strictObject({ any: conditions }),
  z.strictObject({ not: z.lazy(() => Condition) }),
]);

/** Undoes a completed step when its task fails later; runs with the step's own time-outs and retry policy. */
export const Compensation = z.strictObject({
  role: RoleName,
  executor: ExecutorName,
  input: z.record(z.string(), Mapping),
});
export type Compensation = z.infer<typeof Compensation>;

/** A person decides about the exact result of a step, or (`validation`) about what the validator passed. */
export const Gate = z.strictObject({
  after: z.union([z.literal('validation'), PlanKey]),
  /** Counted from the moment the gate opens. The task's deadline keeps running meanwhile. */
  expiresMs: z
    .int()
    .min(100)
    .max(30 * 24 * 3_600_000),
  onExpiry: z.enum(['reject', 'approve']),
});
export type Gate = z.infer<typeof Gate>;

export const Validation = z.strictObject({
  /** The step whose output is the verdict, what its "rework" repeats, and how often. */
  step: PlanKey,
  rework: z.array(PlanKey).min(1),
  maxRounds: z.int().min(1).max(20),
  /** No further round once the steps of all rounds have used this many model tokens together. */
  maxTokens: z.int().min(1).optional(),
  /** No further round once this much time has passed since the first verdict was asked for. */
  maxMs: z.int().min(1).optional(),
  /**
   * A reason that names missing evidence adds a step made from the step with this key, as long as the task has at most
   * `maxSteps` steps.
   */
  evidence: z.strictObject({ step: PlanKey, maxSteps: z.int().min(1).max(500) }).optional(),
});
export type Validation = z.infer<typeof Validation>;

/**
 * One thing that a planning step asks for. Everything but its id and its needs is for the executor that receives it.
 */
export const SubGoalRef = z.looseObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,47}$/),
  /** Ids of sub-goals that come before it. */
  needs: z.array(z.string()).max(200),
});

/**
 * Steps that a planning step asks for, as data: one for each entry of its output's `subGoals`, all made from one step
 * of the plan (which serves the first). They wait for those they need, and whatever waits for that step waits for all
 * of them.
 */
export const Growth = z.strictObject({
  from: PlanKey,
  step: PlanKey,
  /** More sub-goals are refused. */
  maxSteps: z.int().min(1).max(100),
});
export type Growth = z.infer<typeof Growth>;

export const PlanStep = z.strictObject({
  key: PlanKey,
  role: RoleName,
  executor: ExecutorName,
  /** Keys of the steps that must be done first. */
  after: z.array(PlanKey),
  input: z.record(z.string(), Mapping),
  /** One attempt may take this long from its claim. */
  timeoutMs: z
    .int()
    .min(100)
    .max(24 * 3_600_000),
  /** From the first dispatch to a claim; after it the step fails with `QUEUE_EXPIRED`. */
  queueTtlMs: z
    .int()
    .min(1_000)
    .max(30 * 24 * 3_600_000),
  retry: RetryPolicy,
  /** Absent: `all`. */
  join: Join.optional(),
  /**
   * Absent: always run. A step whose condition doesn't hold is skipped: it ends as `NOT_NEEDED`, which fails nothing.
   */
  when: Condition.optional(),
  compensate: Compensation.optional(),
});
export type PlanStep = z.infer<typeof PlanStep>;

/** A workflow as data: compiled from TypeScript, checked when loaded, stored with each task by its hash. */
export const Plan = z.strictObject({
  workflow: WorkflowName,
  /** JSON Schema of the task's input. */
  inputSchema: JsonObject,
  /**
   * Keys of the input that hold a `DocumentInput`; the ledger keeps the text as an object and passes a `DocumentRef`.
   */
  documents: z.array(z.string()),
  steps: z.array(PlanStep).min(1).max(200),
  validation: Validation.nullable(),
  gate: Gate.optional(),
  growth: Growth.optional(),
  /** What the finished task returns. */
  result: Mapping,
});
export type Plan = z.infer<typeof Plan>;
