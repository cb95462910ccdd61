import type { MsgHdrs } from '@nats-io/nats-core';
import { backoffMs } from './backoff.ts';
import type { PubAck } from './pub-ack.ts';

/** One message on its way into a stream. */
export type Sending = {
  readonly ordinal: number;
  readonly stream: string;
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers: MsgHdrs;
  readonly deadlineAt: number;
  /** All that wait with the same abort signal; this one is among them until it is settled. */
  readonly waitsWith: Set<Sending> | undefined;
  readonly resolve: (ack: PubAck) => void;
  readonly reject: (error: Error) => void;
  sentAt: number;
  tries: number;
  /** Set once resolved or rejected: a late answer has no effect. */
  settled: boolean;
};

const BACKOFF = { firstMs: 50, maxMs: 5_000 };
const COMPACT_AT = 1_024;
/** Longer than any pause between two tries: what waits would have been sent again. */
const AT_REST_MS = 30_000;

/**
 * The queue of one stream: first in, first out, at most `window` unacknowledged. After a failure it pauses, then probes
 * with one message at a time, so that a full or leaderless stream is not hammered; other streams have their own loop
 * and don't notice.
 */
export class SendLoop {
  readonly #window: number;
  readonly #send: (sending: Sending) => void;
  readonly #soon: (work: () => void) => void;
  readonly #queue: Sending[] = [];
  #head = 0;
  /** Failed messages, by ordinal: they go first, in their original order. */
  #again: Sending[] = [];
  /** Why the stream last refused a message; also the reason of those that wait behind it. */
  lastFault = 'not answered';
  #inFlight = 0;
  #pumpWaits = false;
  #failures = 0;
  #pausedUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Since when everything that was sent has gone without an answer, and when something was sent last. */
  #silentSince: number | undefined;
  #sentAt = 0;

  constructor(window: number, send: (sending: Sending) => void, soon: (work: () => void) => void) {
    this.#window = window;
    this.#send = send;
    this.#soon = soon;
  }

  /** Accepted and neither stored nor refused yet. */
  get waiting(): number {
    return this.#queue.length - this.#head + this.#again.length + this.#inFlight;
  }

  /**
   * How long the stream has stored nothing of what is sent to it. Milliseconds; 0 where it does, and
   * where nothing is being sent.
   */
  get silentMs(): number {
    const now = performance.now();
    return this.#silentSince === undefined || now - this.#sentAt > AT_REST_MS ? 0 : now - this.#silentSince;
  }

  push(sending: Sending): void {
    this.#queue.push(sending);
    this.#pumpSoon();
  }

  pump(): void {
    const now = performance.now();
    if (now < this.#pausedUntil) {
      this.#wake(this.#pausedUntil - now);
      return;
    }
    const window = this.#failures > 0 ? 1 : this.#window;
    while (this.#inFlight < window) {
      const next = this.#next();
      if (next === undefined) return;
      this.#inFlight++;
      this.#silentSince ??= now;
      this.#sentAt = now;
      this.#send(next);
    }
  }

  /** The broker answered: stored or refused for good. */
  answered(): void {
    this.#inFlight--;
    this.#failures = 0;
    this.#pausedUntil = 0;
    this.#silentSince = undefined;
    this.#pumpSoon();
  }

  /** The stream stored something that did not come through here. */
  stored(): void {
    this.#silentSince = undefined;
  }

  /** Leaves the loop without an answer (aborted, over its deadline). */
  dropped(): void {
    this.#inFlight--;
    this.#pumpSoon();
  }

  failed(sending: Sending, fault: string): void {
    this.lastFault = fault;
    this.#inFlight--;
    this.#requeue(sending);
    const now = performance.now();
    // A window fails as one: only its first message lengthens the pause.
    if (now >= this.#pausedUntil) {
      this.#failures++;
      this.#pausedUntil = now + backoffMs(this.#failures, BACKOFF);
    }
    this.#wake(this.#pausedUntil - now);
  }

  /**
   * After a reconnect: the fate of what was in flight is unknown, so it goes again at once; the message id deduplicates
   * it.
   */
  resend(sendings: readonly Sending[]): void {
    for (const sending of sendings) {
      this.#inFlight--;
      this.#requeue(sending);
    }
    this.#failures = 0;
    this.#pausedUntil = 0;
    this.#silentSince = undefined;
    this.pump();
  }

  /** Everything not in flight, for deadline checks. */
  *queued(): Iterable<Sending> {
    yield* this.#again;
    for (let i = this.#head; i < this.#queue.length; i++) {
      const sending = this.#queue[i];
      if (sending) yield sending;
    }
  }

  /** Drops what was given up on: a stream that accepts nothing has no turns in which it would fall out by itself. */
  forgetSettled(): void {
    this.#again = this.#again.filter((sending) => !sending.settled);
    const queued = this.#queue.slice(this.#head).filter((sending) => !sending.settled);
    this.#queue.splice(0, this.#queue.length, ...queued);
    this.#head = 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #pumpSoon(): void {
    if (this.#pumpWaits) return;
    this.#pumpWaits = true;
    this.#soon(() => {
      this.#pumpWaits = false;
      this.pump();
    });
  }

  #next(): Sending | undefined {
    for (;;) {
      const next = this.#again.shift() ?? this.#shift();
      if (next === undefined || !next.settled) return next;
    }
  }

  #shift(): Sending | undefined {
    const next = this.#queue[this.#head];
    if (next === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#queue.length || this.#head > COMPACT_AT) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    return next;
  }

  #requeue(sending: Sending): void {
    if (sending.settled) return;
    let at = this.#again.length;
    while (at > 0 && (this.#again[at - 1]?.ordinal ?? 0) > sending.ordinal) at--;
    this.#again.splice(at, 0, sending);
  }

  #wake(inMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.pump(), Math.max(1, inMs));
  }
}
