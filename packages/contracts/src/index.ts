// The public vocabulary, by hand-kept concept files; nothing else of this package is API.

export { CATALOGUE, type CatalogueEntry, listMessages } from './catalogue.ts';
export {
  DeadLetterDiscard,
  DeadLetterList,
  DeadLetterReplay,
  DeadLetterShow,
  LetterEdit,
} from './dead-letter-endpoints.ts';
export { DocumentInput, DocumentRef, MAX_DOCUMENT_BYTES, MAX_INLINE_BYTES, MediaType, ObjectRef } from './document.ts';
export { toAsyncApi } from './documents/asyncapi.ts';
export { toMessageSchema } from './documents/message-schema.ts';
export { splitRequest, toOpenApi } from './documents/openapi.ts';
export {
  defineEndpoint,
  type Endpoint,
  endpointSubject,
  type RequestOf,
  type ServedBy,
  type ValueOf,
} from './endpoint.ts';
export {
  ENDPOINTS,
  FactAsOf,
  FactGet,
  FactHistory,
  FactImportSet,
  ObjectGet,
  ObjectPut,
  TaskApprove,
  TaskCancel,
  TaskEdit,
  TaskFork,
  TaskGet,
  TaskList,
  TaskReject,
  TaskRetry,
  WatchRead,
} from './endpoints.ts';
export { Envelope, type EnvelopeAttributes } from './envelope.ts';
export { type ErrorText, toErrorText } from './error-text.ts';
export {
  AppError,
  type AppErrorOptions,
  Disposition,
  ERROR_CODES,
  ErrorBody,
  type ErrorCode,
  isAppError,
  MAX_ERROR_MESSAGE,
  toAppError,
} from './errors.ts';
export { AttemptRef, Fence, JsonObject, Pin, Priority, TASK_STATES, TaskState } from './fence.ts';
export {
  FactPairs,
  FactRedact,
  FactRedactions,
  FactRetractSource,
  FactReview,
  FactReviews,
  KnowledgePair,
  PersonName,
  RedactionView,
  ReviewView,
  TaskFeedback,
} from './governance-endpoints.ts';
export { fromAttemptHeaders, HEADERS, toAttemptHeaders } from './headers.ts';
export { Problem } from './http/problem.ts';
export { HTTP_ROUTES, type HttpRoute } from './http/routes.ts';
export { SubmitBody } from './http/submit.ts';
export {
  AnyTime,
  CandidateId,
  ClaimId,
  ExecutorName,
  FactRef,
  INVALID_TASK_ID,
  KnowledgeId,
  RoleName,
  ScheduleId,
  SETTLED_ID,
  SessionId,
  Sha256,
  StepId,
  TaskId,
  TenantId,
  TOKEN_PATTERN,
  UtcTime,
  WorkerId,
  WorkflowName,
} from './ids.ts';
export { findInexactNumber } from './inexact-number.ts';
export {
  CandidateList,
  CandidateView,
  FactImpact,
  StepDetail,
  TaskSteps,
  TaskStory,
  Transition,
} from './inspection-endpoints.ts';
export { issueWords } from './issue-words.ts';
export {
  canonicalJson,
  type Json,
  MAX_BODY_BYTES,
  MAX_JSON_DEPTH,
  MESSAGE_BOUNDS,
  parseGivenJson,
  parseJson,
  parseJsonText,
} from './json.ts';
export {
  AccessLevel,
  Assertion,
  Candidate,
  CandidateOutcome,
  FactImport,
  FactMark,
  FactPeriod,
  FactView,
  KnowledgeLayer,
  KnowledgeType,
  Modality,
  Polarity,
  Sensitivity,
  SourceType,
} from './knowledge.ts';
export { DisputeView, FactDisputes, FactResolve, FactRetract, FactSearch } from './knowledge-endpoints.ts';
export {
  type DataOf,
  decodeFromService,
  decodeMessage,
  defineMessage,
  encodeMessage,
  type MessageDefinition,
  mismatch,
  schemaUrn,
  toEnvelope,
  typeOf,
} from './message.ts';
export {
  ClaimAbort,
  ClaimAnswer,
  ClaimReply,
  ClaimRequest,
  ClaimWithReport,
  Heartbeat,
  HeartbeatReply,
} from './messages/claims.ts';
export { DeadLettered } from './messages/dead-letter.ts';
export {
  CandidatesSettled,
  FactChanged,
  KnowledgePropose,
  KnowledgeSettle,
  MAX_FACT_REFS,
} from './messages/knowledge.ts';
export { ModelCallAsk, ModelCallReply } from './messages/model-calls.ts';
export {
  StepTransitioned,
  SubmitRefused,
  TaskAccepted,
  TaskGateOpened,
  TaskTransitioned,
} from './messages/task-events.ts';
export { DEFAULT_DEADLINE_MS, MAX_DEADLINE_MS, TaskSubmit } from './messages/task-submit.ts';
export { StepProgress, StepReport, StepRun, Usage, Verdict, VerdictReason } from './messages/work.ts';
export { WorkflowRegister, WorkflowRegisterReply } from './messages/workflows.ts';
export { findOwnText } from './own-text.ts';
export { inboxPrefix, type Permissions, type Principal, permissionsFor, principalName } from './permissions.ts';
export {
  Compensation,
  Condition,
  Gate,
  Growth,
  Join,
  Mapping,
  Plan,
  PlanKey,
  PlanStep,
  RetryPolicy,
  SubGoalRef,
  Validation,
} from './plan.ts';
export { parseReportId, toReportId } from './report-id.ts';
export {
  MissedPolicy,
  OverlapPolicy,
  ScheduleDelete,
  ScheduleList,
  SchedulePause,
  SchedulePut,
  ScheduleResume,
  ScheduleView,
} from './schedule-endpoints.ts';
export {
  DEFAULT_SESSION_TTL_MS,
  MAX_SESSION_BYTES,
  MAX_SESSION_ITEM_BYTES,
  MAX_SESSION_ITEMS,
  MAX_SESSION_TTL_MS,
  SessionItem,
  SessionList,
  SessionRead,
  SessionReset,
  SessionShow,
  SessionSpeaker,
  SessionWrite,
} from './session-endpoints.ts';
export { toStorableText } from './storable-text.ts';
export {
  BUILT_IN_ROLES,
  type ConsumerSpec,
  consumersFor,
  HOUR_MS,
  MAX_ACK_PENDING,
  type Owner,
  STREAMS,
  type StreamName,
  type StreamSpec,
  workConsumer,
} from './streams.ts';
export { subjectsOverlap } from './subject-overlap.ts';
export { parseSubject, subjects } from './subjects.ts';
export { taskIdFromKey } from './task-id.ts';
export {
  FactAdd,
  FactUnarchive,
  KnowledgeLaunder,
  KnowledgeReports,
  LaunderAction,
  LaunderProposal,
  LaunderReport,
  MemoryMeasures,
} from './upkeep-endpoints.ts';
export {
  Cursor,
  DeadLetterSummary,
  DeadLetterView,
  GateView,
  ModelUsageView,
  StepView,
  TaskSummary,
  TaskView,
} from './views.ts';
