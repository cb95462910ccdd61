export { accept, type Submission } from './accept.ts';
export { checkPlan } from './check-plan.ts';
export { type Decided, decide } from './decide.ts';
export { answerClaim, holdsClaim } from './decide-claim.ts';
export type { Change } from './decision.ts';
export {
  type CompiledWorkflow,
  defineWorkflow,
  loadWorkflow,
  type StepDefinition,
  type WorkflowDefinition,
} from './define-workflow.ts';
export type { LedgerEvent } from './events.ts';
export { appliedKey, evolve } from './evolve.ts';
export type { ExecutorContract } from './executor-contract.ts';
export { type ForkRequest, fork } from './fork.ts';
export type { LedgerInput } from './inputs.ts';
export { buildInput, resolveMapping } from './mapping.ts';
export { newStep } from './new-step.ts';
export { attachReplay, checkInputEdit } from './replay-step.ts';
export { backoffMs } from './retry.ts';
export { settlementOf, toSettlement } from './settlement.ts';
export {
  type Aggregate,
  type Failure,
  findLatest,
  findStep,
  type GateState,
  isActive,
  isGateOpen,
  MACHINE_DEFAULTS,
  type MachineOptions,
  type Phase,
  type Purpose,
  type Step,
  type Task,
} from './state.ts';
export {
  findRung,
  type Outgoing,
  type OutgoingCommand,
  type OutgoingContext,
  type OutgoingEvent,
  type TransitionRecord,
  toDoorbell,
  toDuplicateAccepted,
  toOutgoing,
  toRefused,
  toTransition,
} from './to-outgoing.ts';
export { isTerminal, isTransitionAllowed, TRANSITIONS } from './transitions.ts';
