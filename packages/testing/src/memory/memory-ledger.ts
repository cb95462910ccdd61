import type { Envelope, ErrorBody, Fence } from '@cleanslate/contracts';
import {
  type Aggregate,
  accept,
  type Change,
  decide,
  findStep,
  holdsClaim,
  isActive,
  isTerminal,
  type LedgerInput,
  type MachineOptions,
  type OutgoingCommand,
  type OutgoingContext,
  type Submission,
  toDoorbell,
  toOutgoing,
} from '@cleanslate/domain';

export type DeadLetter = { readonly stepId: string; readonly attempt: number; readonly error: ErrorBody };
/**
 * What survives every crash: the task as the pure machine decides it, and what a commit writes beside it.
 * One input is one transaction.
 */
export class MemoryLedger {
  #state: Aggregate | undefined;
  readonly #options: MachineOptions;
  readonly #now: () => number;
  readonly events: Envelope[] = [];
  readonly deadLetters: DeadLetter[] = [];
  readonly refused: string[] = [];
  /** How often a result of each step was taken. */
  readonly effects = new Map<string, number>();
  #ids = 0;

  constructor(now: () => number, options: MachineOptions) {
    this.#now = now;
    this.#options = options;
  }

  get options(): MachineOptions {
    return this.#options;
  }

  get state(): Aggregate | undefined {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state !== undefined && isTerminal(this.#state.task.state);
  }

  /** The same task again changes nothing. */
  submit(submission: Submission): readonly Change[] {
    if (this.#state !== undefined) return [];
    const { state, changes } = accept(1, submission, this.#now(), this.#options);
    return [...this.#commit(state, changes), ...this.#admit()];
  }

  apply(input: LedgerInput): readonly Change[] {
    if (this.#state === undefined) return [];
    const { state, changes } = decide(this.#state, input, this.#now(), this.#options);
    return [...this.#commit(state, changes), ...this.#admit()];
  }

  isHeldBy(fence: Fence): boolean {
    return this.#state !== undefined && holdsClaim(this.#state.epoch, findStep(this.#state, fence.stepId), fence);
  }

  /** A heartbeat names the claim: its lease moves. */
  beat(fence: Fence): boolean {
    if (!this.isHeldBy(fence)) return false;
    this.#change(fence.stepId, { beaten: true, dueAt: this.#now() + this.#options.leaseMs });
    return true;
  }

  /** Doorbells that are not known to be published: of each step that was dispatched and whose row names no sequence. */
  get unpublished(): readonly OutgoingCommand[] {
    const state = this.#state;
    const waiting = state?.steps.filter(({ phase, doorbellSeq }) => phase === 'dispatched' && doorbellSeq === null);
    if (state === undefined || waiting === undefined) return [];
    return waiting.flatMap(({ stepId }) => toDoorbell(state, stepId, this.#context()));
  }

  published({ stepId, attempt, ring }: OutgoingCommand, seq: number): void {
    const step = this.#state && findStep(this.#state, stepId);
    if (step?.attempt === attempt && step.ring === ring) this.#change(stepId, { doorbellSeq: seq });
  }

  /** After an outage nobody is to blame for: leases and the queue's time move by it and one lease. */
  forgive(goneMs: number): void {
    const later = (at: number | null) => (at === null ? null : at + goneMs + this.#options.leaseMs);
    for (const step of this.#state?.steps ?? []) {
      if (!isActive(step)) continue;
      const lease = step.phase === 'executing' ? { dueAt: later(step.dueAt) } : {};
      this.#change(step.stepId, { ...lease, queueExpiresAt: later(step.queueExpiresAt) });
    }
  }

  /** What a step has at its due times, soonest first. `isGone`: a doorbell's message is no longer in its stream. */
  dueTimes(isGone: (seq: number) => boolean): readonly { readonly at: number; readonly input: LedgerInput }[] {
    if (this.#state === undefined || this.isOver) return [];
    const { task, steps } = this.#state;
    const due: { at: number; input: LedgerInput }[] = [{ at: task.deadline, input: { kind: 'deadline_due' } }];
    if (task.gate?.decision === null) due.push({ at: task.gate.expiresAt, input: { kind: 'gate_due' } });
    for (const { stepId, attempt, phase, dueAt, timeoutAt, queueExpiresAt, claimId, ring, doorbellSeq } of steps) {
      const waits = phase === 'ready' || phase === 'dispatched' || phase === 'backing_off';
      if (waits && queueExpiresAt !== null) due.push({ at: queueExpiresAt, input: { kind: 'queue_due', stepId } });
      if (dueAt === null) continue;
      if (phase === 'backing_off') due.push({ at: dueAt, input: { kind: 'backoff_due', stepId } });
      if (phase === 'dispatched') {
        const gone = doorbellSeq !== null && isGone(doorbellSeq);
        due.push({ at: dueAt, input: { kind: 'ring_due', stepId, attempt, ring, gone } });
      }
      if (phase !== 'executing' || claimId === null || timeoutAt === null) continue;
      due.push({ at: dueAt, input: { kind: 'lease_due', stepId, attempt, claimId } });
      due.push({ at: timeoutAt, input: { kind: 'attempt_timeout_due', stepId, attempt } });
    }
    return due.sort((a, b) => a.at - b.at);
  }

  #admit(): readonly Change[] {
    const changes: Change[] = [];
    for (const { stepId, phase } of this.#state?.steps ?? []) {
      if (phase !== 'ready' || this.#state === undefined) continue;
      const decided = decide(this.#state, { kind: 'dispatch', stepId }, this.#now(), this.#options);
      changes.push(...this.#commit(decided.state, decided.changes));
    }
    return changes;
  }

  #commit(state: Aggregate, changes: readonly Change[]): readonly Change[] {
    this.#state = state;
    for (const change of changes) {
      this.#record(change);
      for (const outgoing of toOutgoing(change, this.#context()))
        if (outgoing.kind === 'event')
          this.events.push({ ...outgoing.envelope, sequence: String(this.events.length + 1) });
    }
    return changes;
  }

  #context(): OutgoingContext {
    return { time: new Date(this.#now()).toISOString(), newId: () => `message-${++this.#ids}` };
  }

  #record({ event, after }: Change): void {
    if (event.kind === 'refused') this.refused.push(`${event.code}: ${event.detail}`);
    if (event.kind === 'step_succeeded') this.effects.set(event.stepId, (this.effects.get(event.stepId) ?? 0) + 1);
    if (event.kind === 'letter_written') {
      const { stepId, error } = event;
      this.deadLetters.push({ stepId, attempt: findStep(after, stepId)?.attempt ?? 0, error });
    }
  }

  #change(stepId: string, change: Partial<Aggregate['steps'][number]>): void {
    if (this.#state === undefined) return;
    const steps = this.#state.steps.map((step) => (step.stepId === stepId ? { ...step, ...change } : step));
    this.#state = { ...this.#state, steps };
  }
}
