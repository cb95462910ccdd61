// What the ledger's side decides with: the task machine, admission, schedules, limits, and what is masked or erased.
// Without the rules of knowledge, which a scheduler would only hold in memory.

export { type AdmissionLimit, decideAdmission, type InFlight } from './admission/index.ts';
export { createEraser, type Eraser } from './knowledge/redaction/erase-content.ts';
export { toKeyedRequest } from './knowledge/redaction/keyed-request.ts';
export { toFragments } from './knowledge/redaction/phrase-pattern.ts';
export { decideCall, type LimitUse } from './model-calls/index.ts';
export { MAX_SUB_GOALS } from './planning/sub-goal.ts';
export {
  checkCron,
  decideSchedule,
  findNextDue,
  type ScheduleDecision,
  type ScheduleState,
} from './schedules/index.ts';
export { DEFAULT_SENSITIVE, maskSensitive } from './sensitive/index.ts';
export {
  type Aggregate,
  accept,
  answerClaim,
  appliedKey,
  attachReplay,
  type Change,
  type CompiledWorkflow,
  checkInputEdit,
  type Decided,
  decide,
  defineWorkflow,
  type Failure,
  findRung,
  findStep,
  fork,
  type GateState,
  isActive,
  isGateOpen,
  isTerminal,
  isTransitionAllowed,
  type LedgerInput,
  loadWorkflow,
  MACHINE_DEFAULTS,
  type MachineOptions,
  type Outgoing,
  type OutgoingCommand,
  type OutgoingContext,
  type OutgoingEvent,
  type Phase,
  type Purpose,
  type Step,
  settlementOf,
  type Task,
  type TransitionRecord,
  toDoorbell,
  toDuplicateAccepted,
  toOutgoing,
  toRefused,
  toSettlement,
  toTransition,
  type WorkflowDefinition,
} from './tasks/index.ts';
export { findForbiddenKey } from './validation/forbidden-keys.ts';
