import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { ErrorBody } from './errors.ts';
import { TaskState } from './fence.ts';
import { CandidateId, ClaimId, FactRef, KnowledgeId, StepId, TaskId, UtcTime } from './ids.ts';
import { Candidate, CandidateOutcome } from './knowledge.ts';
import { PlanKey } from './plan.ts';
import { StepView } from './views.ts';

/** A step with its place in the plan, its output, and every failure it had. */
export const StepDetail = z.strictObject({
  ...StepView.shape,
  planKey: PlanKey,
  /** Ids of the steps that had to end first. */
  after: z.array(StepId),
  /** The step of an earlier round that this one replaces. */
  supersedes: StepId.nullable(),
  purpose: z.enum(['work', 'evidence', 'compensation']),
  /** Null if it has none yet, or if `outputBytes` says that it is too large for one answer. */
  output: z.unknown().nullable(),
  outputBytes: z.int().nonnegative().nullable(),
  /** The validator's reasons for sending it back. */
  feedback: z.array(z.unknown()).nullable(),
  /** The last twenty, oldest first. */
  failures: z.array(z.strictObject({ at: UtcTime, attempt: z.int().nonnegative(), error: ErrorBody })),
  /** Model tokens of all its attempts. */
  tokens: z.int().nonnegative(),
  /** Candidates that its winning claim put on the blackboard. */
  candidates: z.array(CandidateId),
  /** In a fork: the old task's step whose result this is. */
  copiedFrom: StepId.nullable(),
});
export type StepDetail = z.infer<typeof StepDetail>;

export const TaskSteps = defineEndpoint(
  { plane: 'qry', noun: 'task', verb: 'steps', servedBy: 'gateway' },
  () => z.strictObject({ taskId: TaskId }),
  () => z.strictObject({ taskId: TaskId, steps: z.array(StepDetail) }),
);

/** One change of state, of the task (`stepId` null) or of a step. */
export const Transition = z.strictObject({
  at: UtcTime,
  stepId: StepId.nullable(),
  from: TaskState.nullable(),
  to: TaskState,
  /** The trigger, as in the table of transitions. */
  on: z.string(),
  attempt: z.int().nullable(),
  spent: z.int().nullable(),
  round: z.int().nullable(),
  worker: z.string().nullable(),
  code: z.string().nullable(),
});
export type Transition = z.infer<typeof Transition>;

/**
 * What happened to a task, oldest first: every change of state, what was refused, what was
 * repaired. The newest 1,000 of each.
 */
export const TaskStory = defineEndpoint(
  { plane: 'qry', noun: 'task', verb: 'story', servedBy: 'gateway' },
  () => z.strictObject({ taskId: TaskId }),
  () =>
    z.strictObject({
      taskId: TaskId,
      transitions: z.array(Transition),
      /** Reports, claims and controls that came too late or from the wrong claim and changed nothing. */
      refusals: z.array(
        z.strictObject({
          at: UtcTime,
          stepId: StepId.nullable(),
          attempt: z.int().nullable(),
          code: z.string(),
          detail: z.string(),
        }),
      ),
      repairs: z.array(
        z.strictObject({ at: UtcTime, stepId: StepId.nullable(), what: z.string(), detail: z.string() }),
      ),
    }),
);

/** Knowledge proposed on the blackboard, and what became of it. */
export const CandidateView = z.strictObject({
  candidateId: CandidateId,
  taskId: TaskId,
  stepId: StepId,
  attempt: z.int().nonnegative(),
  claimId: ClaimId,
  /** waiting: its task has not ended. held: its task failed. settled: decided. */
  state: z.enum(['waiting', 'held', 'settled']),
  outcome: CandidateOutcome.nullable(),
  /** The fact version it became, or was found to repeat. */
  knowledgeId: KnowledgeId.nullable(),
  version: z.int().positive().nullable(),
  reason: z.string().nullable(),
  saidAt: UtcTime,
  settledAt: UtcTime.nullable(),
  candidate: Candidate,
});
export type CandidateView = z.infer<typeof CandidateView>;

/** The blackboard, newest first. */
export const CandidateList = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'candidates', servedBy: 'gateway' },
  () =>
    z.strictObject({
      limit: z.int().min(1).max(500).optional(),
      before: z.string().max(300).optional(),
      taskId: TaskId.optional(),
      state: CandidateView.shape.state.optional(),
    }),
  () => z.strictObject({ candidates: z.array(CandidateView), next: z.string().nullable() }),
);

/**
 * What rests on a fact, or on one version of it: every version derived from it at any depth, the tasks that derived
 * them, every answer that rests on any of those, and tasks that read it without naming it as a ground.
 */
export const FactImpact = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'impact', servedBy: 'gateway' },
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      version: z.int().positive().optional(),
      /**
       * The next answers: those behind that of this task, the last of the page before. Facts and readers are
       * told with the first page only.
       */
      answersAfter: TaskId.optional(),
    }),
  () =>
    z.strictObject({
      facts: z.array(
        z.strictObject({
          fact: FactRef,
          /** The version it rests on in the chain that leads here. */
          restsOn: FactRef,
          /** 1: derived from it directly. */
          distance: z.int().positive(),
          taskId: TaskId.nullable(),
          /** Still believed: neither replaced nor retracted. */
          believed: z.boolean(),
        }),
      ),
      tasks: z.array(TaskId),
      /** There are more of one of these than the nearest 1,000 shown. */
      more: z.boolean(),
      /** Answers of tasks, with the version that each names as a ground. */
      answers: z
        .array(z.strictObject({ taskId: TaskId, restsOn: FactRef, distance: z.int().positive(), answeredAt: UtcTime }))
        .optional(),
      /** Tasks that read it and whose answer does not name it; the latest first. */
      readers: z.array(z.strictObject({ taskId: TaskId, fact: FactRef, stepId: StepId, at: UtcTime })).optional(),
    }),
);
