import type { ErrorBody } from '@cleanslate/contracts';
import {
  type Aggregate,
  type Change,
  type Decided,
  decide,
  findRung,
  findStep,
  type InFlight,
  type LedgerInput,
  type MachineOptions,
  type Outgoing,
  type OutgoingContext,
  type OutgoingEvent,
  type Step,
  type Task,
  toDoorbell,
  toOutgoing,
  toSettlement,
  toTransition,
} from '@cleanslate/domain/ledger';
import type { Span } from '@cleanslate/runtime/service';
import {
  type Changes,
  type DoorbellKey,
  type EventText,
  keyOf,
  type Loaded,
  type Refusal,
  type StepLetter,
  type StoredAggregate,
  type TaskKey,
} from '@cleanslate/store/ledger';
import { toLetterReason } from './letter-reason.ts';

/** Of a step that the batch dispatched or rings for again, with the state that it is built from when it is sent. */
export type DueDoorbell = DoorbellKey & { readonly state: Aggregate };

type Entry = { before: StoredAggregate | null; after: StoredAggregate };

/** One batch while it is decided: the aggregates as they stand, and everything that is to be written with them. */
export class Batch {
  readonly now: number;
  readonly epoch: number;
  readonly options: MachineOptions;
  readonly context: OutgoingContext;
  readonly letters: StepLetter[] = [];
  readonly closedLetters: string[] = [];
  /** Letters whose replay was called off before it came to an end. */
  readonly returnedLetters: string[] = [];
  /** Letters whose work nothing waits for any more, and why. */
  readonly needlessLetters: { readonly letterId: string; readonly reason: string }[] = [];
  readonly settlements: { taskSeq: number; tenantId: string; taskId: string; body: unknown }[] = [];
  readonly doorbells: DueDoorbell[] = [];
  readonly aborts: Extract<Outgoing, { kind: 'abort' }>[] = [];
  readonly #entries = new Map<string, Entry>();
  readonly #transitions: Changes['transitions'][number][] = [];
  readonly #events: EventText[] = [];
  readonly #refusals: Refusal[] = [];
  /** Whose turn admission gave last, by role. */
  turns: ReadonlyMap<string, string> = new Map();
  /** For telemetry, once they are committed. */
  readonly accepted: { readonly workflow: string; readonly span: Span | undefined }[] = [];
  readonly ended: Task[] = [];
  readonly #readied: { readonly entry: Entry; readonly stepId: string }[] = [];

  constructor(loaded: Loaded, epoch: number, options: MachineOptions, newId: () => string) {
    this.now = loaded.now;
    this.epoch = epoch;
    this.options = options;
    this.context = { time: new Date(loaded.now).toISOString(), newId };
    for (const [key, stored] of loaded.aggregates) this.#entries.set(key, { before: stored, after: stored });
  }

  find(key: TaskKey): StoredAggregate | undefined {
    return this.#entries.get(keyOf(key))?.after;
  }

  /** Tasks that join late; those already here stay as they are. */
  adopt(loaded: Loaded): void {
    for (const [key, stored] of loaded.aggregates) {
      if (!this.#entries.has(key)) this.#entries.set(key, { before: stored, after: stored });
    }
  }

  /** A task inserted in this transaction. */
  begin(key: TaskKey, taskSeq: number, decided: Decided, span?: Span): void {
    this.accepted.push({ workflow: decided.state.task.workflow, span });
    const entry: Entry = { before: null, after: { taskSeq, state: decided.state } };
    this.#entries.set(keyOf(key), entry);
    for (const change of decided.changes) this.#record(entry, change);
  }

  apply(key: TaskKey, decided: Decided): void {
    const entry = this.#entries.get(keyOf(key));
    if (entry !== undefined) this.#apply(entry, decided);
  }

  /** Decides an input and applies what was decided; undefined where the task is not in the batch. */
  decide(key: TaskKey, input: LedgerInput): Decided | undefined {
    const entry = this.#entries.get(keyOf(key));
    if (entry === undefined) return undefined;
    const decided = decide(entry.after.state, input, this.now, this.options);
    this.#apply(entry, decided);
    return decided;
  }

  /** Steps that became ready in this batch and still are, with their tasks. */
  findReadied(): readonly { readonly task: Task; readonly step: Step }[] {
    return this.#readied.flatMap(({ entry: { after }, stepId }) => {
      const step = findStep(after.state, stepId);
      return step?.phase === 'ready' ? [{ task: after.state.task, step }] : [];
    });
  }

  /** As text at once: that is what its row and its message hold, and the batch is long under way. */
  tell({ tenantId, taskId, traceparent, envelope }: OutgoingEvent): void {
    this.#events.push({ tenantId, taskId, traceparent, text: JSON.stringify(envelope) });
  }

  refuse({ tenantId, taskId }: TaskKey, error: Pick<ErrorBody, 'code' | 'message'>): void {
    this.#refusals.push({
      at: this.now,
      tenantId,
      taskId,
      stepId: null,
      attempt: null,
      claimId: null,
      code: error.code,
      detail: error.message,
    });
  }

  /** How many more steps are dispatched or executing than before the batch. */
  inFlightDelta(): readonly InFlight[] {
    const delta = new Map<string, InFlight>();
    for (const { before, after } of this.#entries.values()) {
      if (before === after) continue;
      const { tenantId, workflow } = after.state.task;
      after.state.steps.forEach((step, i) => {
        const old = before?.state.steps[i];
        const by = old === step ? 0 : Number(isInFlight(step)) - Number(isInFlight(old));
        if (by === 0) return;
        const { role } = step;
        const name = `${role} ${tenantId} ${workflow}`;
        delta.set(name, { role, tenantId, workflow, steps: (delta.get(name)?.steps ?? 0) + by });
      });
    }
    return [...delta.values()];
  }

  toChanges(): Changes {
    const aggregates = [...this.#entries.values()].filter((entry) => entry.before !== entry.after);
    return { aggregates, transitions: this.#transitions, events: this.#events, refusals: this.#refusals };
  }

  #apply(entry: Entry, { changes, state }: Decided): void {
    if (changes.length === 0) return;
    entry.after = { taskSeq: entry.after.taskSeq, state };
    for (const change of changes) this.#record(entry, change);
  }

  #record(entry: Entry, change: Change): void {
    const { event, after } = change;
    const { taskSeq } = entry.after;
    const { tenantId, taskId } = after.task;
    const transition = toTransition(change);
    if (transition !== null) this.#transitions.push({ ...transition, taskSeq, tenantId, at: this.now });
    for (const message of toOutgoing(change, this.context)) {
      if (message.kind === 'event') this.tell(message);
      else this.aborts.push(message);
    }
    const rung = findRung(change);
    if (rung !== undefined) {
      const { stepId, attempt, ring } = rung;
      this.doorbells.push({ taskSeq, stepId, attempt, ring, state: after });
    }
    if (event.kind === 'step_readied' || (event.kind === 'step_released' && event.dueAt <= this.now)) {
      this.#readied.push({ entry, stepId: event.stepId });
    }
    if (event.kind === 'letter_closed') this.closedLetters.push(event.letterId);
    if (event.kind === 'step_failed') this.#endReplay(change, event);
    if (event.kind === 'letter_written') this.#writeLetter(change, event);
    if (event.kind === 'task_completed' || event.kind === 'task_failed') {
      this.ended.push(after.task);
      const body = toSettlement(after);
      if (body !== null) this.settlements.push({ taskSeq, tenantId, taskId, body });
    }
    if (event.kind === 'refused') {
      const { code, detail, stepId = null, attempt = null, claimId = null } = event;
      this.#refusals.push({ at: this.now, tenantId, taskId, stepId, attempt, claimId, code, detail });
    }
  }

  /**
   * Nobody closed it first: the step ends for a reason that says nothing of its work. Called off with its task, it can
   * be asked for again; no longer needed, it can't.
   */
  #endReplay({ before }: Change, { stepId, on, error }: Extract<Change['event'], { kind: 'step_failed' }>): void {
    const letterId = before.steps.find((step) => step.stepId === stepId)?.replayOf ?? null;
    if (letterId === null) return;
    if (on === 'not_needed') this.needlessLetters.push({ letterId, reason: error.message });
    else this.returnedLetters.push(letterId);
  }

  #writeLetter({ after }: Change, event: Extract<Change['event'], { kind: 'letter_written' }>): void {
    const step = after.steps.find((candidate) => candidate.stepId === event.stepId);
    const doorbell = toDoorbell(after, event.stepId, this.context)[0];
    if (step === undefined || doorbell === undefined) return;
    const body =
      event.raw === undefined ? Buffer.from(JSON.stringify(doorbell.envelope)) : Buffer.from(event.raw, 'base64');
    this.letters.push({
      task: after.task,
      step: { ...step, failures: step.failures.map((each) => ({ ...each, error: toLetterReason(each.error) })) },
      error: toLetterReason(event.error),
      now: this.now,
      subject: doorbell.subject,
      headers: doorbell.headers,
      body,
      replayOf: event.replayOf,
    });
  }
}

function isInFlight(step: Step | undefined): boolean {
  return step?.phase === 'dispatched' || step?.phase === 'executing';
}
