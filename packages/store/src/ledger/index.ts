// The tables of the ledger and the connection to them: all of the store that a scheduler loads.

export { type AwaitDatabaseOptions, awaitDatabase } from '../await-database.ts';
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
} from '../database.ts';
export { toPriorityNumber } from '../priority.ts';
export {
  findReady,
  type Line,
  type LineName,
  type ReadyStep,
  type Room,
  saveTurns,
  setNextLooks,
  takeRoom,
  type WaitingStep,
} from './admission.ts';
export { insertMessageLetter, insertStepLetters, letterId, type StepLetter } from './dead-letters.ts';
export {
  closeLetters,
  discardLetter,
  discardNeedless,
  findLetter,
  findLetterForUpdate,
  findOpenLetters,
  findReturningMessages,
  forgetEndedLetters,
  markReplayed,
  type ReplayableLetter,
  type ReturningMessage,
  returnLetters,
  setReplaySequence,
} from './dead-letters-replay.ts';
export {
  type DoorbellKey,
  findLeftDoorbells,
  forgetOutbox,
  type LeftDoorbells,
  noteDoorbells,
  type StoredDoorbell,
} from './doorbells.ts';
export { eraseLetters, eraseObject, findSayingObjects } from './erase-bytes.ts';
export { eraseOthers, eraseSessions, eraseTask, eraseText, findSayingTasks } from './erase-rows.ts';
export {
  beginErasure,
  findEarlierAttempts,
  hasEarlierMessages,
  noteErased,
  noteLook,
  type OpenErasure,
} from './erasures.ts';
export {
  type EventText,
  findEventsAfter,
  lockPublishing,
  markPublished,
  type NumberedEvent,
  numberEvents,
  tryEventLock,
} from './events.ts';
export { countUnaccounted, findReply, type LedgerGauges, readGauges, readHead, saveReply, tick } from './health.ts';
export { type Loaded, loadForUpdate, loadLate, PlanCache, readEpoch, readStates, upsertPlan } from './load.ts';
export {
  type CallScope,
  findCallUse,
  forgetCalls,
  insertCall,
  isOpenCall,
  renewCalls,
  type SettledCall,
  settleCall,
} from './model-calls.ts';
export { findStoredObject, putObjects, type StoredObject, toObject } from './objects.ts';
export { type RoleQueue, readQueues } from './queues.ts';
export {
  answerRepairRequests,
  countUnaccountedCandidates,
  findRepairRequests,
  findStuckTasks,
  findUnsettledTasks,
  insertRepairs,
  type Repair,
  repairDueTimes,
  repairSettlements,
} from './reconcile.ts';
export { findKnown, type RestoreReport, restoreLedger } from './restore.ts';
export { type Forgotten, forgetFinished } from './retention.ts';
export { keyOf, type StoredAggregate, type TaskKey } from './rows.ts';
export { type Changes, type Refusal, saveChanges, takeTaskSeqs } from './save.ts';
export {
  type DueSchedule,
  deleteSchedule,
  findScheduleForUpdate,
  hasDueSchedules,
  putSchedule,
  type ScheduleKey,
  type ScheduleSettings,
  saveDecision,
  saveScheduleFault,
  switchSchedule,
  takeDueSchedules,
} from './schedules.ts';
export { forgetSessions, readSession, resetSession, writeSession } from './sessions.ts';
export { confirmSettlement, type DueSettlement, takeDueSettlements, upsertSettlements } from './settlements.ts';
export { StateCache } from './state-cache.ts';
export { findSubmitKeys, keySubmits } from './submit-keys.ts';
export {
  findIdleTenants,
  findKnownSubmits,
  type KnownSubmit,
  readKnowledgeRevision,
  requireActiveTenant,
} from './submits.ts';
export { type DueInput, type DueRing, findDueClaims, findDueInputs, findDueRings } from './timers.ts';
export { applyHeartbeats, forgetSilentWorkers } from './workers.ts';
export { findWorkflows, putWorkflow, type RegisteredWorkflow } from './workflows.ts';
