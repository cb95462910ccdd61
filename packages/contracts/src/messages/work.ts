import { z } from 'zod';
import { ErrorBody } from '../errors.ts';
import { JsonObject, Pin } from '../fence.ts';
import { CandidateId, ExecutorName, UtcTime, WorkflowName } from '../ids.ts';
import { defineMessage } from '../message.ts';

/** Command (a doorbell): run one attempt of a step. The claim, not this message, is the right to work. */
export const StepRun = defineMessage({
  name: 'step.run',
  version: 1,
  data: z.strictObject({
    workflow: WorkflowName,
    executor: ExecutorName,
    /** Built by the scheduler from the plan's mapping; nothing else crosses. */
    input: JsonObject,
    pin: Pin,
    /** Validation round, from 1. */
    round: z.int().positive(),
    /** The same for all attempts of the step: for the executor's own side effects. */
    idempotencyKey: z.string(),
  }),
});
export type StepRun = z.infer<typeof StepRun.data>;

export const Usage = z.strictObject({
  durationMs: z.number().nonnegative(),
  inputTokens: z.int().nonnegative().optional(),
  outputTokens: z.int().nonnegative().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** Report: how an attempt ended. Fence in the envelope: `epoch, taskid, stepid, attempt, claimid`. */
export const StepReport = defineMessage({
  name: 'step.report',
  version: 1,
  data: z.discriminatedUnion('outcome', [
    z.strictObject({
      outcome: z.literal('succeeded'),
      /** As the executor's output schema says, or an `ObjectRef`. */
      output: JsonObject,
      usage: Usage,
      /** Ids of the candidates PubAcked before this report. */
      candidates: z.array(CandidateId).max(1_000),
    }),
    z.strictObject({
      outcome: z.literal('failed'),
      error: ErrorBody,
      usage: Usage.optional(),
      /** Base64 of a command body that couldn't be read; becomes the dead letter's bytes. */
      raw: z.string().max(12_000_000).optional(),
    }),
    z.strictObject({
      outcome: z.literal('released'),
      /** `drain`, `UNSUPPORTED_VERSION`, `UNKNOWN_EXECUTOR`, … Nothing is spent. */
      reason: z.string().min(1).max(200),
      /** Not before this many milliseconds from now. */
      dueInMs: z.int().nonnegative().optional(),
    }),
  ]),
});
export type StepReport = z.infer<typeof StepReport.data>;

/** What every validating executor returns: the verdict is read from `decision` alone, never searched for in text. */
export const VerdictReason = z.strictObject({
  code: z.string().regex(/^[A-Z][A-Z0-9_]{1,63}$/),
  /** Where in the judged result: `findings.2.quote`. */
  path: z.string().max(300),
  message: z.string().max(2_000),
  remedy: z.string().max(2_000),
  /** Missing evidence, as a query: if the plan says how, a step that looks for it is added. */
  evidence: z.string().min(1).max(500).optional(),
});
export type VerdictReason = z.infer<typeof VerdictReason>;
export const Verdict = z.strictObject({
  decision: z.enum(['pass', 'rework', 'reject']),
  /** 0…1, used as validator score when candidates are arbitrated. */
  score: z.number().min(0).max(1),
  checks: z
    .array(z.strictObject({ check: z.string().max(100), passed: z.boolean(), detail: z.string().max(2_000) }))
    .max(500),
  reasons: z.array(VerdictReason).max(100),
});
export type Verdict = z.infer<typeof Verdict>;

/** Progress: lossy, core NATS. `started` and `ended` come from the kit, others from the executor. */
export const StepProgress = defineMessage({
  name: 'step.progress',
  version: 1,
  data: z.strictObject({
    kind: z.enum(['started', 'progress', 'ended']),
    role: z.string(),
    at: UtcTime,
    message: z.string().max(500).optional(),
    /** 0…1 */
    fraction: z.number().min(0).max(1).optional(),
  }),
});
export type StepProgress = z.infer<typeof StepProgress.data>;
