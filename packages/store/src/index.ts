export {
  type ApiKeyRow,
  addApiKey,
  findApiKey,
  type NewApiKey,
  putApiKey,
  putApiKeyHash,
  rotateApiKey,
} from './auth/api-keys.ts';
export { addRole, listRoles, type RemovedRole, type RoleSummary, removeRole } from './auth/roles.ts';
export {
  countTenantRows,
  eraseTenant,
  listTenants,
  registerTenant,
  setTenantState,
  type TenantRows,
  type TenantState,
  type TenantSummary,
} from './auth/tenants.ts';
export { listWorkflows, type RemovedWorkflow, removeWorkflow, type WorkflowSummary } from './auth/workflows.ts';
export { type AwaitDatabaseOptions, awaitDatabase } from './await-database.ts';
export {
  DATABASE_ROLES,
  type Database,
  type DatabaseOptions,
  type DatabaseRole,
  isConstraintViolation,
  openDatabase,
  sent,
  type TransactionScope,
  type Tx,
  withTransaction,
} from './database.ts';
export {
  type CandidateChange,
  findTaskCandidates,
  insertCandidates,
  type NewCandidate,
  type StoredCandidate,
  saveCandidateChanges,
  type TaskName,
} from './knowledge/candidates.ts';
export { carryOver } from './knowledge/carry-over.ts';
export { type FactName, type SupportName, updateMarks } from './knowledge/cascade.ts';
export {
  confirmRedaction,
  type ErasedRedaction,
  findErased,
  findSayingCandidates,
  type SayingCandidate,
  sampleAnew,
} from './knowledge/confirm-redaction.ts';
export {
  type DisputeResolution,
  findClaimsAt,
  findDispute,
  findTurnedDown,
  listDisputes,
  resolveDispute,
  type StoredDispute,
} from './knowledge/disputes.ts';
export {
  addSpace,
  checkSpace,
  dropRetiredVectors,
  findSpaces,
  type StoredSpace,
  switchSpace,
} from './knowledge/embedding-spaces.ts';
export {
  buildVectorIndex,
  countEmbeddings,
  findUnembedded,
  getLastVersion,
  insertEmbeddings,
  type NewEmbedding,
  type Unembedded,
} from './knowledge/embeddings.ts';
export {
  adjustWeights,
  findAnswerVersions,
  findJudgedVersion,
  findVotes,
  isRepeated,
  type JudgedVersion,
  saveFeedback,
  saveNote,
  setAside,
} from './knowledge/feedback.ts';
export { type FactLookup, findFactStates } from './knowledge/find-fact-states.ts';
export {
  type FactListing,
  findFactAt,
  findFactHistory,
  findFactsAt,
  findFactVersions,
  listFactsAt,
  listPoliciesAt,
} from './knowledge/find-facts.ts';
export { findLineages, type VersionName } from './knowledge/find-lineages.ts';
export {
  countRecentRevisions,
  type Duty,
  endArchives,
  endTurn,
  type FoundFindings,
  findArchived,
  findKnowledgeTenants,
  findLaunderable,
  insertArchived,
  insertReport,
  type LaunderBounds,
  listReports,
  maintainIndexes,
  measureMemory,
  type NewArchived,
  readClock,
  takeTurn,
} from './knowledge/laundering/index.ts';
export { cutMissingTerms } from './knowledge/lexemes.ts';
export { listFactVersions } from './knowledge/list-fact-versions.ts';
export {
  deleteKnowledgeOutbox,
  findLeftKnowledgeOutbox,
  insertKnowledgeOutbox,
  type KnowledgeGauges,
  type KnowledgeMessage,
  type KnowledgeOutboxRow,
  readKnowledgeGauges,
} from './knowledge/outbox.ts';
export { awaitVectors, countPendingVectors, notEmbeddedYet, saveEmbeddedUntil } from './knowledge/pending-vectors.ts';
export { findTurned, saveSweep, type TurnedVersion } from './knowledge/periods-sweep.ts';
export {
  eraseDisputes,
  eraseNotes,
  findDisputesOf,
  findSayingDisputes,
  findSayingNotes,
  type RedactableDispute,
  type SayingNote,
} from './knowledge/redacted-copies.ts';
export {
  eraseCandidates,
  findCandidatesOf,
  findLastRedaction,
  findRedactable,
  findRedactedContents,
  findRedactionKeys,
  findSayingVersions,
  insertRedaction,
  type NewRedaction,
  type RedactableCandidate,
  type RedactableVersion,
  takeRedactionKey,
} from './knowledge/redactions.ts';
export { type Reembedder, type ReembedReport, type RefusedFact, reembed } from './knowledge/reembed.ts';
export { ANY_TEXT, isTextRefusal } from './knowledge/refused-text.ts';
export { type AnsweredRequest, findRequest, insertRequest, keyRequests } from './knowledge/requests.ts';
export { closeReview, findReview, openReviews } from './knowledge/reviews.ts';
export {
  findRevisionAt,
  getLastRevision,
  type KnowledgeHead,
  lockKnowledge,
  type TakenRevisions,
  takeRevisions,
} from './knowledge/revisions.ts';
export { type FactHit, type FactSearch, searchFacts } from './knowledge/search.ts';
export type { SearchFilter } from './knowledge/search-facts.ts';
export { findSettlements, saveSettlements, type TaskSettlement } from './knowledge/settlements.ts';
export {
  type Contribution,
  findChallenges,
  findContributions,
  findUndecided,
  type Source,
} from './knowledge/source-contributions.ts';
export { type FactRead, findAnswered, insertAnswers, insertReads, type NewAnswer } from './knowledge/usage.ts';
export { type BatchClock, closeVersions, insertFactLog, insertVersions } from './knowledge/write-facts.ts';
export {
  type AuditEntry,
  type Derivation,
  type Dispute,
  insertAudit,
  insertDerivations,
  insertDisputes,
  insertSightings,
  type Sighting,
} from './knowledge/write-provenance.ts';
export {
  answerRepairRequests,
  applyHeartbeats,
  beginErasure,
  type Changes,
  closeLetters,
  confirmSettlement,
  countUnaccounted,
  countUnaccountedCandidates,
  type DoorbellKey,
  type DueInput,
  type DueRing,
  type DueSchedule,
  type DueSettlement,
  deleteSchedule,
  discardLetter,
  discardNeedless,
  type EventText,
  eraseLetters,
  eraseObject,
  eraseOthers,
  eraseSessions,
  eraseTask,
  eraseText,
  findDueClaims,
  findDueInputs,
  findDueRings,
  findEarlierAttempts,
  findEventsAfter,
  findIdleTenants,
  findKnown,
  findKnownSubmits,
  findLeftDoorbells,
  findLetter,
  findLetterForUpdate,
  findOpenLetters,
  findReady,
  findRepairRequests,
  findReply,
  findReturningMessages,
  findSayingObjects,
  findSayingTasks,
  findScheduleForUpdate,
  findStoredObject,
  findStuckTasks,
  findSubmitKeys,
  findUnsettledTasks,
  forgetEndedLetters,
  forgetOutbox,
  forgetSilentWorkers,
  hasDueSchedules,
  hasEarlierMessages,
  insertMessageLetter,
  insertRepairs,
  insertStepLetters,
  type KnownSubmit,
  keyOf,
  keySubmits,
  type LedgerGauges,
  type LeftDoorbells,
  type Line,
  type LineName,
  type Loaded,
  letterId,
  loadForUpdate,
  loadLate,
  lockPublishing,
  markPublished,
  markReplayed,
  type NumberedEvent,
  noteDoorbells,
  noteErased,
  noteLook,
  numberEvents,
  type OpenErasure,
  PlanCache,
  putObjects,
  putSchedule,
  type ReadyStep,
  type Refusal,
  type Repair,
  type ReplayableLetter,
  type RestoreReport,
  type ReturningMessage,
  type RoleQueue,
  type Room,
  readEpoch,
  readGauges,
  readHead,
  readKnowledgeRevision,
  readQueues,
  readStates,
  repairDueTimes,
  repairSettlements,
  requireActiveTenant,
  restoreLedger,
  returnLetters,
  type ScheduleKey,
  type ScheduleSettings,
  StateCache,
  type StepLetter,
  type StoredAggregate,
  type StoredDoorbell,
  type StoredObject,
  saveChanges,
  saveDecision,
  saveReply,
  saveScheduleFault,
  saveTurns,
  setNextLooks,
  setReplaySequence,
  switchSchedule,
  type TaskKey,
  takeDueSchedules,
  takeDueSettlements,
  takeRoom,
  takeTaskSeqs,
  tick,
  toObject,
  toPriorityNumber,
  tryEventLock,
  upsertPlan,
  upsertSettlements,
  type WaitingStep,
} from './ledger/index.ts';
export {
  type CallScope,
  findCallUse,
  forgetCalls,
  insertCall,
  isOpenCall,
  renewCalls,
  type SettledCall,
  settleCall,
} from './ledger/model-calls.ts';
export { type Forgotten, forgetFinished } from './ledger/retention.ts';
export { forgetSessions, readSession, resetSession, writeSession } from './ledger/sessions.ts';
export { findWorkflows, putWorkflow, type RegisteredWorkflow } from './ledger/workflows.ts';
export { type DeadLetterQuery, findDeadLetter, listDeadLetters } from './ledger-views/dead-letters.ts';
export { findImpact } from './ledger-views/fact-impact.ts';
export { findObject } from './ledger-views/find-object.ts';
export { findTaskView } from './ledger-views/find-task.ts';
export { type LimitChange, setTenantLimits, type TenantLimits } from './ledger-views/limits.ts';
export { type CandidateQuery, listCandidates } from './ledger-views/list-candidates.ts';
export { listPairs } from './ledger-views/list-pairs.ts';
export { listRedactions } from './ledger-views/list-redactions.ts';
export { listReviews } from './ledger-views/list-reviews.ts';
export { listSchedules } from './ledger-views/list-schedules.ts';
export { listTasks, type TaskQuery } from './ledger-views/list-tasks.ts';
export { type ModelLimitChange, type ModelLimitView, setModelLimits } from './ledger-views/model-limits.ts';
export {
  countEvents,
  type EventCounts,
  type Overview,
  type RoleLoad,
  readOverview,
  type TenantLoad,
} from './ledger-views/overview.ts';
export { type EventQuery, readEvents } from './ledger-views/read-events.ts';
export { findSession, listSessions } from './ledger-views/sessions.ts';
export { findTaskSteps } from './ledger-views/task-steps.ts';
export { findTaskStory } from './ledger-views/task-story.ts';
export { addTenants, hasTenant } from './ledger-views/tenants.ts';
export { findPendingMigrations, type MigrateOptions, type MigrationReport, migrate } from './migrate.ts';
