import { z } from 'zod';
import { DeadLetterDiscard, DeadLetterList, DeadLetterReplay, DeadLetterShow } from './dead-letter-endpoints.ts';
import { defineEndpoint } from './endpoint.ts';
import { Envelope } from './envelope.ts';
import { JsonObject, Pin, TaskState } from './fence.ts';
import {
  FactPairs,
  FactRedact,
  FactRedactions,
  FactRetractSource,
  FactReview,
  FactReviews,
  TaskFeedback,
} from './governance-endpoints.ts';
import { AnyTime, KnowledgeId, Sha256, TaskId, UtcTime, WorkflowName } from './ids.ts';
import { CandidateList, FactImpact, TaskSteps, TaskStory } from './inspection-endpoints.ts';
import { CandidateOutcome, FactImport, FactView, SourceType } from './knowledge.ts';
import { FactDisputes, FactResolve, FactRetract, FactSearch } from './knowledge-endpoints.ts';
import { MAX_DEADLINE_MS } from './messages/task-submit.ts';
import { PlanKey } from './plan.ts';
import { ScheduleDelete, ScheduleList, SchedulePause, SchedulePut, ScheduleResume } from './schedule-endpoints.ts';
import { SessionList, SessionRead, SessionReset, SessionShow, SessionWrite } from './session-endpoints.ts';
import { FactAdd, FactUnarchive, KnowledgeLaunder, KnowledgeReports } from './upkeep-endpoints.ts';
import { Cursor, TaskSummary, TaskView } from './views.ts';

const page = { limit: z.int().min(1).max(500).optional(), before: z.string().max(300).optional() };
const nextPage = z.string().nullable();

export const TaskGet = defineEndpoint(
  { plane: 'qry', noun: 'task', verb: 'get', servedBy: 'gateway' },
  () => z.strictObject({ taskId: TaskId }),
  () => TaskView,
);

export const TaskList = defineEndpoint(
  { plane: 'qry', noun: 'task', verb: 'list', servedBy: 'gateway' },
  () => z.strictObject({ ...page, state: TaskState.optional(), workflow: WorkflowName.optional() }),
  () => z.strictObject({ tasks: z.array(TaskSummary), next: nextPage }),
);

/** Committed events after a cursor, oldest first: how a watcher starts and fills a gap. */
export const WatchRead = defineEndpoint(
  { plane: 'qry', noun: 'watch', verb: 'read', servedBy: 'gateway' },
  () =>
    z.strictObject({
      taskId: TaskId.optional(),
      after: Cursor.optional(),
      limit: z.int().min(1).max(1_000).optional(),
    }),
  () => z.strictObject({ events: z.array(Envelope), cursor: Cursor }),
);

const factPin = {
  validAt: AnyTime.optional(),
  revision: z.int().nonnegative().optional(),
  knownAt: AnyTime.optional(),
};

/** The version in force at the pin (defaults: now, last committed revision). */
export const FactGet = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'get', servedBy: 'gateway' },
  () => z.strictObject({ knowledgeId: KnowledgeId, ...factPin }),
  () => z.strictObject({ fact: FactView, revision: z.int().nonnegative() }),
);

/**
 * All versions of a fact, oldest first, including those no longer believed. `validAt`: those that say something about
 * that moment; `revision` or `knownAt`: those written by then.
 */
export const FactHistory = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'history', servedBy: 'gateway' },
  () => z.strictObject({ knowledgeId: KnowledgeId, ...factPin }),
  () => z.strictObject({ versions: z.array(FactView), revision: z.int().nonnegative() }),
);

/** Every fact in force at the pin, by knowledge id. */
export const FactAsOf = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'as-of', servedBy: 'gateway' },
  () =>
    z.strictObject({
      ...factPin,
      prefix: z.string().max(200).optional(),
      limit: z.int().min(1).max(1_000).optional(),
      after: KnowledgeId.optional(),
    }),
  () => z.strictObject({ facts: z.array(FactView), revision: z.int().nonnegative(), next: nextPage }),
);

/** Imports statements of people, all or nothing; idempotent by the request's envelope id and by content. */
export const FactImportSet = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'import', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      sourceRef: z.string().min(1).max(500),
      sourceType: SourceType,
      facts: z.array(FactImport).min(1).max(2_000),
    }),
  () =>
    z.strictObject({
      revision: z.int().nonnegative(),
      outcomes: z.array(
        z.strictObject({ knowledgeId: KnowledgeId, outcome: CandidateOutcome, versions: z.array(z.int().positive()) }),
      ),
    }),
);

export const TaskCancel = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'cancel', servedBy: 'scheduler' },
  () => z.strictObject({ taskId: TaskId, reason: z.string().max(500).optional() }),
  () => z.strictObject({ taskId: TaskId, state: TaskState, changed: z.boolean() }),
);

/**
 * What a person decided about the exact result that `task.get` shows with this hash; `by` is `expiry` if the answer
 * came too late.
 */
const gateAnswer = z.strictObject({
  taskId: TaskId,
  state: TaskState,
  decision: z.enum(['approved', 'rejected', 'edited']),
  by: z.enum(['person', 'expiry']),
});
const gateRequest = { taskId: TaskId, sha256: Sha256 };
export const TaskApprove = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'approve', servedBy: 'scheduler' },
  () => z.strictObject(gateRequest),
  () => gateAnswer,
);
export const TaskReject = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'reject', servedBy: 'scheduler' },
  () => z.strictObject({ ...gateRequest, reason: z.string().max(2_000).optional() }),
  () => gateAnswer,
);
/** Approves another result instead of the one with this hash; recorded as edited by a person. */
export const TaskEdit = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'edit', servedBy: 'scheduler' },
  () => z.strictObject({ ...gateRequest, result: JsonObject }),
  () => gateAnswer,
);

/** failed → pending: task and failed steps together; finished steps keep their results. */
export const TaskRetry = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'retry', servedBy: 'scheduler' },
  () => z.strictObject({ taskId: TaskId, deadlineMs: z.int().min(100).max(MAX_DEADLINE_MS).optional() }),
  () => z.strictObject({ taskId: TaskId, state: TaskState, deadline: UtcTime }),
);

/**
 * A new task from an old one: at a step, whose predecessors keep their results, or with another
 * pin. The old one is untouched.
 */
export const TaskFork = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'fork', servedBy: 'scheduler' },
  () =>
    z.strictObject({
      taskId: TaskId,
      at: PlanKey.optional(),
      validAt: AnyTime.optional(),
      revision: z.int().nonnegative().optional(),
      deadlineMs: z.int().min(100).max(MAX_DEADLINE_MS).optional(),
    }),
  () => z.strictObject({ taskId: TaskId, forkedFrom: TaskId, state: TaskState, pin: Pin, deadline: UtcTime }),
);

/** Content-addressed bytes of the ledger (`base64`): documents and large values. Services only. */
export const ObjectGet = defineEndpoint(
  { plane: 'obj', noun: 'object', verb: 'get', servedBy: 'scheduler' },
  () => z.strictObject({ sha256: Sha256 }),
  () => z.strictObject({ sha256: Sha256, base64: z.string() }),
);
export const ObjectPut = defineEndpoint(
  { plane: 'obj', noun: 'object', verb: 'put', servedBy: 'scheduler' },
  () => z.strictObject({ base64: z.string() }),
  () => z.strictObject({ sha256: Sha256, bytes: z.int().positive() }),
);

export const ENDPOINTS = [
  TaskGet,
  TaskList,
  TaskSteps,
  TaskStory,
  WatchRead,
  FactGet,
  FactHistory,
  FactAsOf,
  FactImportSet,
  FactAdd,
  FactUnarchive,
  KnowledgeLaunder,
  KnowledgeReports,
  FactSearch,
  FactDisputes,
  FactResolve,
  FactRetract,
  CandidateList,
  FactImpact,
  FactRedact,
  FactRedactions,
  FactRetractSource,
  TaskFeedback,
  FactReviews,
  FactReview,
  FactPairs,
  TaskCancel,
  TaskApprove,
  TaskReject,
  TaskEdit,
  TaskRetry,
  TaskFork,
  DeadLetterList,
  DeadLetterShow,
  DeadLetterReplay,
  DeadLetterDiscard,
  ObjectGet,
  ObjectPut,
  SchedulePut,
  ScheduleDelete,
  SchedulePause,
  ScheduleResume,
  ScheduleList,
  SessionRead,
  SessionWrite,
  SessionList,
  SessionShow,
  SessionReset,
] as const;
