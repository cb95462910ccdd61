import { AppError } from '@cleanslate/contracts';
import type { Msg } from '@nats-io/nats-core';
import { backoffMs } from './backoff.ts';
import type { Bus } from './bus.ts';
import { ConsumerWatch } from './consumer-watch.ts';
import { type PullStatus, parsePullStatus } from './pull-status.ts';
import { PulledMessage } from './pulled-message.ts';
import type { BusSubscription } from './subscription.ts';

export type PullLoopOptions = {
  readonly stream: string;
  /** Must exist: `applyTopology` creates it. If it doesn't, the loop keeps asking and is not ready. */
  readonly durable: string;
  /** Most messages in hand at once. */
  readonly slots: number;
  /** Called synchronously; must not throw (what it throws goes to `onProblem`, and the message is handed back). */
  readonly onMessage: (message: PulledMessage) => void;
  /** `settle`: ack, nak or term frees the slot. `release`: only `message.release()` does. Default `settle`. */
  readonly freeOn?: 'settle' | 'release';
  /** How long one pull waits at the server. Milliseconds, default 20 s. */
  readonly expiresMs?: number;
  /** Sign of life from the server while a pull waits. Milliseconds, default 5 s; at most half of `expiresMs`. */
  readonly heartbeatMs?: number;
  /** Pause between two looks at the consumer while no message arrives. Milliseconds, default 3 s. */
  readonly recheckMs?: number;
  readonly onProblem?: (problem: string) => void;
};

export type PullHealth = {
  readonly ready: boolean;
  readonly state: 'starting' | 'receiving' | 'paused' | 'recovering' | 'draining' | 'stopped';
  /** What is wrong, or was wrong last. */
  readonly problem: string | undefined;
};

const BACKOFF = { firstMs: 100, maxMs: 5_000 };
const TICK_MS = 500;

/**
 * Takes messages from a durable and requests exactly as many as there are free slots: a message that waits in the
 * client has its ack clock running. Lost pulls (reconnect, deleted consumer, missed heartbeats) are asked for again,
 * for ever.
 */
export class PullLoop {
  readonly #bus: Bus;
  readonly #options: PullLoopOptions;
  readonly #expiresMs: number;
  readonly #heartbeatMs: number;
  readonly #watch: ConsumerWatch;
  /** Pull requests that may be waiting at the server: token → messages asked for. */
  readonly #pulls = new Map<string, { readonly batch: number; readonly at: number }>();
  #inbox = '';
  #subscription: BusSubscription | undefined;
  #nextToken = 1;
  #requested = 0;
  #inHand = 0;
  #failures = 0;
  #state: PullHealth['state'] = 'stopped';
  #problem: string | undefined;
  /**
   * Set by a look at the consumer, cleared by the next good one or a message: heartbeats arrive even while no message
   * does.
   */
  #blocked: string | undefined;
  #pullScheduled = false;
  /** Most messages in hand at once, for now. */
  #limit: number;
  #resumeAt = 0;
  #lastSign = 0;
  #lastTick = 0;
  #ticker: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => undefined;

  constructor(bus: Bus, options: PullLoopOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#limit = options.slots;
    this.#expiresMs = options.expiresMs ?? 20_000;
    this.#heartbeatMs = Math.min(options.heartbeatMs ?? 5_000, this.#expiresMs / 2);
    this.#watch = new ConsumerWatch(bus, options.stream, options.durable, options.recheckMs);
  }

  /** Slots that neither hold a message nor wait for one to be settled. */
  get free(): number {
    return Math.max(0, this.#limit - this.#inHand);
  }

  get inHand(): number {
    return this.#inHand;
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'starting';
    this.#stopListening = this.#bus.onStatus((status) => {
      if (status.type === 'disconnected') this.#fail('disconnected from the broker');
      if (status.type === 'reconnected') this.#rebuild();
      if (status.type === 'permission-violation' && status.subject === this.#pullSubject()) {
        this.#void(`may not pull: no permission to publish ${status.subject}`);
      }
    });
    this.#lastTick = performance.now();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#rebuild();
    void this.#check();
  }

  health(): PullHealth {
    const ready = this.#blocked === undefined && (this.#state === 'receiving' || this.#state === 'paused');
    return { ready, state: this.#state, problem: this.#blocked ?? this.#problem };
  }

  /** Takes nothing more until `resume` (circuit breaker); the durable itself is shared and stays as it is. */
  pause(): void {
    if (this.#state === 'stopped' || this.#state === 'draining') return;
    this.#state = 'paused';
    void this.#dropSubscription();
  }

  /** Takes at most `more` messages besides those in hand, until the next pause. Default: as many as there are slots. */
  resume(more = this.#options.slots): void {
    if (this.#state !== 'paused') return;
    this.#limit = Math.min(this.#options.slots, this.#inHand + more);
    this.#state = 'starting';
    this.#rebuild();
    void this.#check();
  }

  /** Stops pulling and hands back what was on its way (nak); messages in hand stay the caller's. Never throws. */
  async drain(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'draining';
    this.#stopListening();
    clearInterval(this.#ticker);
    await this.#dropSubscription();
    this.#state = 'stopped';
  }

  #pullSubject(): string {
    return `$JS.API.CONSUMER.MSG.NEXT.${this.#options.stream}.${this.#options.durable}`;
  }

  /** A new inbox: earlier requests no longer count; what still arrives on the old one is handed back. */
  #rebuild(): void {
    if (this.#state === 'paused' || this.#state === 'draining' || this.#state === 'stopped') return;
    void this.#dropSubscription();
    this.#inbox = this.#bus.newInbox();
    const inbox = this.#inbox;
    this.#subscription = this.#bus.subscribe(`${inbox}.*`, (message) => this.#receive(inbox, message));
    this.#lastSign = performance.now();
    this.#schedulePull();
  }

  async #dropSubscription(): Promise<void> {
    this.#pulls.clear();
    this.#requested = 0;
    this.#inbox = '';
    const old = this.#subscription;
    this.#subscription = undefined;
    await old?.drain();
  }

  #receive(inbox: string, message: Msg): void {
    // Only the server writes to the inbox itself: a stored message may carry a forged status line.
    const status = message.subject.startsWith(`${inbox}.`) ? parsePullStatus(message) : undefined;
    if (inbox !== this.#inbox) {
      if (status === undefined) this.#handBack(message);
      return;
    }
    this.#lastSign = performance.now();
    if (status === undefined && this.free <= 0) this.#handBack(message);
    else if (status === undefined) this.#deliver(message);
    else if (status.kind === 'heartbeat') this.#succeed();
    else if (status.kind === 'void') this.#void(status.problem);
    else this.#ended(message.subject.slice(inbox.length + 1), status);
  }

  /** One pull request no longer waits at the server: what it didn't bring may be asked for again. */
  #ended(token: string, status: PullStatus & { kind: 'ended' | 'refused' }): void {
    const batch = this.#pulls.get(token)?.batch ?? 0;
    this.#pulls.delete(token);
    this.#requested -= Math.min(this.#requested, status.kind === 'ended' ? (status.left ?? batch) : batch);
    if (status.kind === 'refused') {
      this.#backOff(status.problem);
      return;
    }
    this.#succeed();
    this.#schedulePull();
  }

  #deliver(raw: Msg): void {
    let held = true;
    const freeOn = this.#options.freeOn ?? 'settle';
    const message = new PulledMessage(this.#bus, raw, (what) => {
      if (!held || (what === 'settled') !== (freeOn === 'settle')) return;
      held = false;
      this.#inHand--;
      this.#schedulePull();
    });
    this.#requested = Math.max(0, this.#requested - 1);
    this.#inHand++;
    this.#watch.received();
    this.#blocked = undefined;
    this.#succeed();
    try {
      this.#options.onMessage(message);
    } catch (error) {
      this.#options.onProblem?.(`message handler threw: ${error instanceof Error ? error.message : String(error)}`);
      message.nak(5_000);
      message.release();
    }
  }

  #handBack(message: Msg): void {
    new PulledMessage(this.#bus, message, () => undefined).nak();
  }

  /** Slots freed in the same tick travel in one request. */
  #schedulePull(): void {
    if (this.#pullScheduled) return;
    this.#pullScheduled = true;
    this.#bus.soon(() => {
      this.#pullScheduled = false;
      this.#pull();
    });
  }

  #pull(): void {
    const wanted = this.free - this.#requested;
    if (this.#inbox === '' || wanted <= 0 || !this.#bus.connected || performance.now() < this.#resumeAt) return;
    const token = (this.#nextToken++).toString(36);
    const request = {
      batch: wanted,
      expires: this.#expiresMs * 1_000_000,
      idle_heartbeat: this.#heartbeatMs * 1_000_000,
    };
    try {
      this.#bus.raw.publish(this.#pullSubject(), JSON.stringify(request), { reply: `${this.#inbox}.${token}` });
    } catch {
      return;
    }
    if (this.#requested === 0) this.#lastSign = performance.now();
    this.#pulls.set(token, { batch: wanted, at: performance.now() });
    this.#requested += wanted;
  }

  #tick(): void {
    const now = performance.now();
    // A blocked event loop heard nothing: that is not the server's silence.
    const blockedMs = Math.max(0, now - this.#lastTick - TICK_MS);
    this.#lastTick = now;
    if (blockedMs > TICK_MS) this.#lastSign += blockedMs;
    for (const [token, pull] of this.#pulls) if (now - pull.at > this.#expiresMs + 10_000) this.#pulls.delete(token);
    if (!this.#bus.connected || this.#inbox === '') {
      // Its timer may be lost to a pause, a disconnect or an early answer: nothing else would ask again.
      if (this.#bus.connected && now > this.#resumeAt + TICK_MS) this.#rebuild();
      return;
    }
    if (this.#requested > 0 && now - this.#lastSign > 2 * this.#heartbeatMs + 1_000) {
      this.#fail('heartbeats missed');
      this.#rebuild();
      void this.#check();
      return;
    }
    this.#pull();
    if (this.#watch.due(this.#requested > 0)) void this.#check();
  }

  /** Asks the server about the consumer: readiness and rebuilding rest on the answer while no messages arrive. */
  async #check(): Promise<void> {
    const verdict = await this.#watch.check();
    if (this.#inbox === '') return;
    if (verdict.kind === 'unknown') return;
    if (verdict.kind === 'starved' && verdict.deaf) return this.#giveUp(verdict.problem);
    if (verdict.kind === 'starved') this.#rebuild();
    if (verdict.kind === 'fine') this.#succeed();
    else if (this.#blocked !== verdict.problem) this.#options.onProblem?.(verdict.problem);
    this.#blocked =
      verdict.kind === 'bad' || (verdict.kind === 'starved' && verdict.again) ? verdict.problem : undefined;
  }

  /**
   * The broker answers, work is there, and pulling anew did not help: another process may hear what this one does not.
   */
  #giveUp(problem: string): void {
    const text = `${this.#options.stream}/${this.#options.durable}: ${problem} did not help, this process is deaf`;
    this.#options.onProblem?.(text);
    void this.#bus.fail(new AppError('BROKER_UNAVAILABLE', text));
  }

  #succeed(): void {
    this.#failures = 0;
    this.#resumeAt = 0;
    if (this.#state !== 'starting' && this.#state !== 'recovering') return;
    this.#state = 'receiving';
    this.#problem = undefined;
  }

  #fail(problem: string): void {
    if (problem !== this.#problem) this.#options.onProblem?.(problem);
    this.#problem = problem;
    if (this.#state === 'receiving' || this.#state === 'starting') this.#state = 'recovering';
  }

  #backOff(problem: string): void {
    this.#failures++;
    const pauseMs = backoffMs(this.#failures, BACKOFF);
    this.#resumeAt = performance.now() + pauseMs;
    this.#fail(problem);
    setTimeout(() => (this.#inbox === '' ? this.#rebuild() : this.#pull()), pauseMs + 1).unref();
  }

  /** Whatever the server still holds of our pulls must not add to what is asked for next: the inbox is abandoned. */
  #void(problem: string): void {
    if (this.#inbox === '') return;
    void this.#dropSubscription();
    this.#backOff(problem);
  }
}
