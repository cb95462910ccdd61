// Tests of your own agents: a workflow and its executors in memory, in virtual time, with faults.

export { memorySessions } from '@cleanslate/runtime/testing';
export { crashEverywhere } from './crash-everywhere.ts';
export { expectExactlyOnce } from './expect-exactly-once.ts';
export {
  type ExecutorFault,
  type Fault,
  type FaultPlan,
  type Faults,
  faultPlan,
  type MessageFault,
  type MessageName,
  noFaults,
  type PortCall,
  type RandomFaultOptions,
  randomFaults,
} from './faults.ts';
export type { DeadLetter } from './memory-ledger.ts';
export {
  type GateDecision,
  type MemoryRun,
  type MemoryRunOptions,
  runInMemory,
  type StepStory,
} from './run-in-memory.ts';
export { type VirtualClock, virtualClock } from './virtual-clock.ts';
