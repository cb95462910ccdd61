import type { ClaimAnswer, Envelope, Fence, StepReport } from '@cleanslate/contracts';
import {
  answerClaim,
  appliedKey,
  type Change,
  findStep,
  holdsClaim,
  type LedgerInput,
  type OutgoingCommand,
  type Submission,
} from '@cleanslate/domain';
import type { MemoryLedger } from './memory-ledger.ts';
import type { Delivery, MemoryQueue } from './queue.ts';
import { Process, type World } from './world.ts';

export type ReportMessage = { readonly fence: Fence; readonly report: StepReport };
export type Doorbell = Pick<OutgoingCommand, 'envelope' | 'stepId' | 'attempt'>;
/** `settled`: applied or stale, so that its worker may forget it. */
export type HeartbeatAnswer = { readonly lost: readonly string[]; readonly settled: readonly string[] };

export type SchedulerParts = {
  readonly ledger: MemoryLedger;
  readonly doorbells: MemoryQueue<Doorbell>;
  readonly reports: MemoryQueue<ReportMessage>;
  /** A claim was taken from its worker. */
  readonly onAbort: (claimId: string) => void;
  /** A person's answer to an open gate. */
  readonly decideGate: (sha256: string, result: unknown) => LedgerInput;
};

const RESTART_MS = 500;
const AGAIN_MS = 1_000;
/** Work that is done waits for nobody longer than this before its lease is ended. */
const REPORT_WAIT_MS = 60_000;
const PERSON_MS = 1_000;

/**
 * The scheduler around the pure machine: everything durable is in the ledger, everything
 * else it may lose at any moment.
 */
export class MemoryScheduler extends Process {
  readonly #parts: SchedulerParts;
  #callOff: () => void = () => undefined;

  constructor(world: World, parts: SchedulerParts) {
    super(world, RESTART_MS);
    this.#parts = parts;
  }

  /** Each is what the edge of a living process does with a message; a dead one does nothing. */
  submit(submission: Submission, onAccepted: () => void): void {
    this.bound(() => {
      this.#commit('submit', () => this.#parts.ledger.submit(submission));
      onAccepted();
    })();
  }

  control(input: LedgerInput, onDone: () => void): void {
    this.bound(() => {
      this.#commit(input.kind, () => this.#parts.ledger.apply(input));
      onDone();
    })();
  }

  claim(fence: Fence, worker: string, reply: (answer: ClaimAnswer) => void): void {
    this.bound(() => {
      const { ledger } = this.#parts;
      this.#commit(`claim of ${fence.stepId}/${fence.attempt}`, () => ledger.apply({ kind: 'claim', fence, worker }));
      const answer = answerClaim(ledger.state, fence, this.world.clock.now(), ledger.options);
      this.world.call('scheduler', 'answer claim', () => this.world.send('claim answer', () => reply(answer)));
    })();
  }

  heartbeat(running: readonly Fence[], reported: readonly Fence[], reply: (answer: HeartbeatAnswer) => void): void {
    this.bound(() => {
      const { ledger } = this.#parts;
      const lost = running.filter((fence) => !ledger.beat(fence)).map(({ claimId }) => claimId);
      for (const fence of reported) ledger.beat(fence);
      const settled = reported.filter((fence) => this.#isSettled(fence)).map(({ claimId }) => claimId);
      this.world.send('heartbeat answer', () => reply({ lost, settled }));
      this.#arm();
    })();
  }

  report({ seq, body: { fence, report } }: Delivery<ReportMessage>): boolean {
    if (!this.alive) return false;
    this.bound(() => {
      const { ledger, reports } = this.#parts;
      this.#commit(`report of ${fence.stepId}/${fence.attempt}`, () => ledger.apply({ kind: 'report', fence, report }));
      this.world.call('scheduler', 'ack report', () => reports.ack(seq));
    })();
    return true;
  }

  protected onDeath(): void {
    this.#callOff();
  }

  protected onStart(goneMs: number): void {
    this.world.tell('scheduler is back');
    this.#parts.ledger.forgive(goneMs);
    this.#relay();
    this.#arm();
  }

  #isSettled(fence: Fence): boolean {
    const { state } = this.#parts.ledger;
    const step = state && findStep(state, fence.stepId);
    if (state === undefined || step === undefined) return true;
    return step.applied.includes(appliedKey(fence.attempt, fence.claimId)) || !holdsClaim(state.epoch, step, fence);
  }

  #commit(what: string, work: () => readonly Change[]): void {
    const changes = this.world.call('scheduler', 'commit', () => {
      const made = work();
      for (const { event } of made)
        this.world.tell(`ledger: ${what}: ${event.kind}${'stepId' in event ? ` ${event.stepId}` : ''}`);
      // With the commit, not after it: who dies here has done both or neither.
      for (const change of made) this.#tellWorker(change);
      return made;
    });
    for (const { event } of changes) {
      if (event.kind !== 'gate_opened') continue;
      this.#askPerson();
    }
    this.#relay();
    this.#arm();
  }

  #tellWorker({ event, before }: Change): void {
    if (!('stepId' in event) || event.stepId === undefined) return;
    const step = findStep(before, event.stepId);
    if (step?.phase === 'executing' && step.claimId !== null && event.kind === 'step_failed')
      this.#parts.onAbort(step.claimId);
  }

  /** Persons don't die with the process that asks them. */
  #askPerson(): void {
    this.world.clock.after(PERSON_MS, () => {
      const gate = this.#parts.ledger.state?.task.gate;
      if (gate?.decision !== null) return;
      this.control(this.#parts.decideGate(gate.sha256, gate.result), () => undefined);
      // Dead or not: asked again until it is decided.
      this.#askPerson();
    });
  }

  /** Publishes what was committed; without a PubAck again a second later. */
  #relay(): void {
    const { ledger, doorbells } = this.#parts;
    for (const doorbell of ledger.unpublished) {
      const { messageId, envelope, stepId, attempt } = doorbell;
      const seq = this.world.call('scheduler', 'publish doorbell', () =>
        doorbells.publish(messageId, { envelope: clone(envelope), stepId, attempt }),
      );
      if (seq !== undefined) ledger.published(doorbell, seq);
    }
    if (ledger.unpublished.length > 0)
      this.world.clock.after(
        AGAIN_MS,
        this.bound(() => this.#relay()),
      );
  }

  /** Wakes at the next due time. */
  #arm(): void {
    this.#callOff();
    const [next] = this.#due();
    if (next === undefined) return;
    const inMs = Math.max(1, next.at - this.world.clock.now());
    this.#callOff = this.world.clock.after(
      inMs,
      this.bound(() => this.#sweep()),
    );
  }

  #sweep(): void {
    const now = this.world.clock.now();
    for (const { at, input } of this.#due()) {
      if (at > now) break;
      this.#commit(input.kind, () => this.#parts.ledger.apply(input));
    }
    this.#arm();
  }

  /** A lease or time-out waits for reports on their way. */
  #due() {
    const { ledger, doorbells, reports } = this.#parts;
    const now = this.world.clock.now();
    return ledger
      .dueTimes((seq) => !doorbells.holds(seq))
      .map(({ at, input }) => {
        const waits = (input.kind === 'lease_due' || input.kind === 'attempt_timeout_due') && reports.size > 0;
        return waits && at <= now && now < at + REPORT_WAIT_MS
          ? { at: Math.min(now + AGAIN_MS, at + REPORT_WAIT_MS), input }
          : { at, input };
      })
      .sort((a, b) => a.at - b.at);
  }
}

/** As over the wire: no two sides share an object. */
function clone(envelope: Envelope): Envelope {
  return JSON.parse(JSON.stringify(envelope)) as Envelope;
}
