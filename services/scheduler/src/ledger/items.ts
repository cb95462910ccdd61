import type {
  DeadLettered,
  DeadLetterReplay,
  ErrorBody,
  JsonObject,
  Plan,
  TaskCancel,
  TaskSubmit,
  ValueOf,
} from '@cleanslate/contracts';
import type { Aggregate, LedgerInput } from '@cleanslate/domain/ledger';
import type { StoredObject, TaskKey } from '@cleanslate/store/ledger';
import type { WorkflowRegistry } from './workflow-registry.ts';

/** A submit that parsed and passed every check that needs no database. */
export type SubmitItem = TaskKey & {
  readonly kind: 'submit';
  readonly submitId: string;
  readonly bodyHash: string;
  readonly planHash: string;
  readonly plan: Plan;
  readonly submit: TaskSubmit;
  readonly objects: readonly StoredObject[];
  readonly traceparent: string | null;
  readonly letter?: LetterRun;
};

/** A submit refused before it reached the ledger. */
export type RefuseItem = TaskKey & {
  readonly kind: 'refuse';
  readonly submitId: string | null;
  readonly error: ErrorBody;
};

export type InputItem = TaskKey & {
  readonly kind: 'input';
  readonly input: LedgerInput;
  readonly letter?: LetterRun;
};

/** The dead letter whose message an item is: closed with it, open again where it is refused. */
export type LetterRun = {
  readonly letterId: string;
  readonly requestId: string;
  readonly force: boolean;
  readonly batch: string | null;
  /** What was given instead of the original bytes. */
  readonly edited: Uint8Array | null;
};

/** An operator's replay of a step's dead letter; answered the same again for the same request id. */
export type ReplayItem = {
  readonly kind: 'replay';
  readonly tenantId: string;
  readonly letterId: string;
  readonly force: boolean;
  readonly requestId: string;
  readonly batch: string | null;
  /** Say what would happen, change nothing. */
  readonly dryRun: boolean;
  /** The step's input instead of what the plan maps. */
  readonly input: JsonObject | null;
};

/** A person's decision about a task; answered the same again for the same request id. */
export type ControlItem = TaskKey & {
  readonly kind: 'control';
  readonly requestId: string;
  readonly input: Extract<LedgerInput, { kind: 'gate' | 'retry' | 'cancel' }>;
};

/** A new task from the one that `taskId` names; `newTaskId` is the same for the same request. */
export type ForkItem = TaskKey & {
  readonly kind: 'fork';
  readonly requestId: string;
  readonly newTaskId: string;
  readonly at: string | null;
  /** Absent: as the old task is pinned. */
  readonly validAt?: string | undefined;
  readonly revision?: number | undefined;
  readonly deadlineMs: number | null;
};

/** Bytes that belong to no attempt, kept as a record. */
export type LetterItem = { readonly kind: 'letter'; readonly tenantId: string | null; readonly letter: DeadLettered };

/** Look at the ready steps that wait for room. */
export type AdmitItem = { readonly kind: 'admit' };

/** Decide the schedules that are due, and take in the runs that follow. */
export type SchedulesItem = { readonly kind: 'schedules'; readonly registry: WorkflowRegistry };

export type LedgerItem =
  | AdmitItem
  | SchedulesItem
  | SubmitItem
  | RefuseItem
  | InputItem
  | ReplayItem
  | LetterItem
  | ControlItem
  | ForkItem;

/** What became of an item. `state` is the task right after it; undefined where the ledger has no such task. */
export type LedgerResult = {
  readonly state: Aggregate | undefined;
  readonly now: number;
  readonly refused: ErrorBody | null;
  /** What a replay is answered, now and whenever the same request id comes again. */
  readonly reply?: ReplayValue;
  /** The same for a cancel. */
  readonly cancelled?: CancelValue;
};

export type ReplayValue = ValueOf<typeof DeadLetterReplay>;
export type CancelValue = ValueOf<typeof TaskCancel>;
