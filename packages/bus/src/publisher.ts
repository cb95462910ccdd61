import { AppError } from '@cleanslate/contracts';
import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import type { Bus } from './bus.ts';
import { encodeHeaders, type OutgoingHeaders } from './headers.ts';
import { Ingest, MAX_RUN } from './ingest.ts';
import { type PubAck, type PubAnswer, parsePubAnswer } from './pub-ack.ts';
import { type Sending, SendLoop } from './send-loop.ts';
import type { BusSubscription } from './subscription.ts';

export type Publication = {
  readonly stream: string;
  readonly subject: string;
  readonly body: Uint8Array;
  /** `Nats-Msg-Id`: names one statement, so that repeated publishes of it are deduplicated. */
  readonly messageId: string;
  readonly headers?: OutgoingHeaders;
  /** Ask the broker to refuse unless `stream` is the one that captures the subject. Default false. */
  readonly expectStream?: boolean;
};

export type PublishOptions = {
  readonly signal?: AbortSignal;
  /** Give up after this long. Milliseconds, default: never. */
  readonly giveUpAfterMs?: number;
};

export type PublisherOptions = {
  /** Unacknowledged messages per stream. Default 100. */
  readonly window?: number;
  /** After this long without an answer a message is sent again. Milliseconds, default 5 s. */
  readonly ackTimeoutMs?: number;
  /** A stream that takes nothing for this long is a problem. Milliseconds, default 15 s. */
  readonly silentAfterMs?: number;
  readonly onRetry?: (stream: string, reason: string) => void;
};

export type PublisherStats = {
  readonly published: number;
  readonly retried: number;
  readonly waiting: ReadonlyMap<string, number>;
};

const SWEEP_MS = 100;
/** Fewer messages are not worth a run: each is asked for by itself. */
const MIN_RUN = 8;
/** A run that is not answered by then is published message by message. */
const RUN_MS = 1_000;
const NO_HEADERS: OutgoingHeaders = {};
/** Here a full queue is the answer to its tenant; everywhere else it is a reason to wait. */
const ANSWERS_FULL = 'INTAKE';

/**
 * Publishes into streams and awaits every PubAck, except for what is sent by `send`, which `stats` does not count. All
 * PubAcks arrive on one wildcard inbox with a callback, which costs a fifth of a promise per request (design/70). Order
 * within a stream is kept, except for messages that had to be sent again.
 */
export class Publisher implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #window: number;
  readonly #ackTimeoutMs: number;
  readonly #silentAfterMs: number;
  readonly #onRetry: (stream: string, reason: string) => void;
  readonly #loops = new Map<string, SendLoop>();
  readonly #inFlight = new Map<number, Sending>();
  readonly #abortable = new WeakMap<AbortSignal, Set<Sending>>();
  readonly #inbox: string;
  readonly #acks: BusSubscription;
  #ingest: Ingest | undefined;
  readonly #stopListening: () => void;
  #nextToken = 1;
  #nextOrdinal = 1;
  #published = 0;
  #retried = 0;
  #sweeper: NodeJS.Timeout | undefined;
  /** Queues are searched for overdue messages only once a caller has set a time limit. */
  #hasDeadlines = false;
  #closed = false;

  constructor(bus: Bus, options: PublisherOptions = {}) {
    this.#bus = bus;
    this.#window = options.window ?? 100;
    this.#ackTimeoutMs = options.ackTimeoutMs ?? 5_000;
    this.#silentAfterMs = options.silentAfterMs ?? 15_000;
    this.#onRetry = options.onRetry ?? (() => undefined);
    this.#inbox = bus.newInbox();
    this.#acks = bus.subscribe(`${this.#inbox}.*`, (message) => this.#answer(message));
    this.#stopListening = bus.onStatus((status) => {
      if (status.type === 'reconnected') this.#resendAll();
      if (status.type === 'permission-violation' && status.operation === 'publish') this.#refuse(status.subject);
    });
    void bus.closed.then(() => this.#end('the connection is closed'));
  }

  stats(): PublisherStats {
    const waiting = new Map([...this.#loops].map(([stream, loop]) => [stream, loop.waiting]));
    return { published: this.#published, retried: this.#retried, waiting };
  }

  /**
   * For readiness: which stream takes nothing of what is sent to it, and for how long. While the connection is away,
   * that is the problem, and this is none.
   */
  problem(): string | undefined {
    if (!this.#bus.connected) return undefined;
    for (const [stream, loop] of this.#loops) {
      const { silentMs } = loop;
      if (silentMs < this.#silentAfterMs) continue;
      return `the stream ${stream} takes nothing for ${Math.round(silentMs / 1_000)} s (${loop.lastFault}): run \`slate doctor\``;
    }
    return undefined;
  }

  /**
   * Resolves once the message is stored. Transient faults (no responders, no leader, timeout, disconnect, stream full)
   * are retried with back-off until the signal or the time limit ends it with `BROKER_UNAVAILABLE`: the message may
   * then be stored or not. Throws `PAYLOAD_TOO_LARGE`, `UNAUTHORIZED`, `TENANT_QUEUE_FULL` (INTAKE only) without
   * retrying.
   */
  publish(publication: Publication, options: PublishOptions = {}): Promise<PubAck> {
    // What a promise's executor throws rejects the promise.
    return new Promise((resolve, reject) => this.#accept(publication, options, resolve, reject));
  }

  /**
   * Sends without asking whether it was stored, not in order with what is published: for messages of which the sender
   * hears in another way. Throws `PAYLOAD_TOO_LARGE`, `BROKER_UNAVAILABLE`.
   */
  send(publication: Publication): void {
    const { subject, body } = publication;
    if (this.#closed) throw unavailable(subject, 'the publisher is closed');
    const headers = this.#encode(publication);
    // Closed or draining meanwhile, it is lost like any other that was on its way.
    this.#bus.soon(() => this.#bus.raw.publish(subject, body, { headers }));
  }

  /** All of them, or the first error; what was sent by then stays sent. */
  publishAll(publications: readonly Publication[], options: PublishOptions = {}): Promise<PubAck[]> {
    return Promise.all(publications.map((publication) => this.publish(publication, options)));
  }

  /**
   * As `publishAll`, for messages that one sender has for one stream, in their order: with one answer for all of them
   * where the stream takes runs (see `Ingest`). What is not known to be stored by that is published message by message,
   * which its id deduplicates. Whoever mixes both for one stream at a time may find their messages in another order.
   */
  async publishRun(publications: readonly Publication[], { giveUpAfterMs }: { giveUpAfterMs: number }): Promise<void> {
    if (publications.length < MIN_RUN || publications.length > MAX_RUN) {
      await this.publishAll(publications, { giveUpAfterMs });
      return;
    }
    const began = performance.now();
    if (await this.#tryRun(publications, Math.min(RUN_MS, giveUpAfterMs))) return;
    await this.publishAll(publications, { giveUpAfterMs: giveUpAfterMs - (performance.now() - began) });
  }

  async #tryRun(publications: readonly Publication[], timeoutMs: number): Promise<boolean> {
    if (this.#closed) return false;
    this.#ingest ??= new Ingest(this.#bus);
    if (!this.#ingest.isReady) return false;
    const messages = publications.map((publication) => {
      const { subject, body } = publication;
      return { subject, body, headers: this.#encode(publication) };
    });
    const stream = publications[0]?.stream ?? '';
    const why = await this.#ingest.send(messages, timeoutMs);
    if (why !== undefined) {
      this.#onRetry(stream, `a run was not stored: ${why}`);
      return false;
    }
    this.#published += messages.length;
    this.#loops.get(stream)?.stored();
    return true;
  }

  /** Ends every waiting publish with `BROKER_UNAVAILABLE`. */
  close(): void {
    this.#end('the publisher is closed');
    this.#acks.unsubscribe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #accept(
    publication: Publication,
    options: PublishOptions,
    resolve: Sending['resolve'],
    reject: Sending['reject'],
  ): void {
    const { stream, subject, body } = publication;
    if (this.#closed) throw unavailable(subject, 'the publisher is closed');
    if (options.signal?.aborted) throw unavailable(subject, 'aborted before it was sent');
    const headers = this.#encode(publication);
    const { signal, giveUpAfterMs } = options;
    const sending: Sending = {
      ordinal: this.#nextOrdinal++,
      stream,
      subject,
      body,
      headers,
      resolve,
      reject,
      deadlineAt: giveUpAfterMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + giveUpAfterMs,
      waitsWith: signal && this.#waitingOn(signal),
      sentAt: 0,
      tries: 0,
      settled: false,
    };
    sending.waitsWith?.add(sending);
    if (giveUpAfterMs !== undefined) this.#hasDeadlines = true;
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS);
    this.#loop(stream).push(sending);
  }

  #encode({ stream, body, messageId, headers: given = NO_HEADERS, expectStream }: Publication): MsgHdrs {
    const named = expectStream ? { ...given, 'Nats-Expected-Stream': stream } : given;
    const { headers, bytes } = encodeHeaders(named, messageId);
    this.#bus.assertFits(body.length + bytes);
    return headers;
  }

  /**
   * What an abort of the signal ends. The signal has one listener here, however many messages wait: one each would cost
   * more than sending them.
   */
  #waitingOn(signal: AbortSignal): Set<Sending> {
    let waiting = this.#abortable.get(signal);
    if (waiting === undefined) {
      const sendings = new Set<Sending>();
      const giveUp = () => {
        for (const sending of sendings) this.#giveUp(sending, 'aborted');
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#abortable.set(signal, sendings);
      waiting = sendings;
    }
    return waiting;
  }

  #loop(stream: string): SendLoop {
    let loop = this.#loops.get(stream);
    if (loop === undefined) {
      const send = (sending: Sending) => this.#send(sending);
      loop = new SendLoop(this.#window, send, (work) => this.#bus.soon(work));
      this.#loops.set(stream, loop);
    }
    return loop;
  }

  #send(sending: Sending): void {
    const token = this.#nextToken++;
    sending.sentAt = performance.now();
    sending.tries++;
    this.#inFlight.set(token, sending);
    try {
      this.#bus.raw.publish(sending.subject, sending.body, {
        reply: `${this.#inbox}.${token.toString(36)}`,
        headers: sending.headers,
      });
    } catch {
      // Closed or draining; `bus.closed` ends everything that waits. Not from inside the loop that called.
    }
  }

  #answer(message: Msg): void {
    const token = Number.parseInt(message.subject.slice(this.#inbox.length + 1), 36);
    const sending = this.#inFlight.get(token);
    if (sending === undefined) return;
    this.#inFlight.delete(token);
    if (sending.settled) this.#loop(sending.stream).dropped();
    else this.#apply(sending, parsePubAnswer(message));
  }

  #apply(sending: Sending, answer: PubAnswer): void {
    if (answer.kind === 'stored') {
      this.#published++;
      sending.resolve(answer.ack);
      this.#settled(sending);
    } else if (answer.kind === 'refused') {
      this.#fail(sending, answer.error);
    } else if (answer.kind === 'full' && sending.stream === ANSWERS_FULL) {
      const text = `the queue of ${sending.subject} is full (${answer.reason}): send again later`;
      this.#fail(sending, new AppError('TENANT_QUEUE_FULL', text, { retryAfterMs: 1_000 }));
    } else {
      this.#retry(sending, answer.reason);
    }
  }

  #fail(sending: Sending, error: AppError): void {
    sending.reject(error);
    this.#settled(sending);
  }

  /** Its promise is resolved or rejected. */
  #settled(sending: Sending): void {
    sending.settled = true;
    sending.waitsWith?.delete(sending);
    this.#loop(sending.stream).answered();
  }

  #retry(sending: Sending, reason: string): void {
    this.#retried++;
    this.#onRetry(sending.stream, reason);
    this.#loop(sending.stream).failed(sending, reason);
  }

  /** Rejects a message that waits or is in flight; a queued one is skipped when its turn comes. */
  #giveUp(sending: Sending, why: string): void {
    if (sending.settled) return;
    sending.settled = true;
    sending.waitsWith?.delete(sending);
    const fault = this.#loop(sending.stream).lastFault;
    sending.reject(unavailable(sending.subject, `${why} after ${sending.tries} tries: ${fault}`));
  }

  #resendAll(): void {
    const sendings = [...this.#inFlight.values()];
    this.#inFlight.clear();
    for (const [stream, loop] of this.#loops) loop.resend(sendings.filter((sending) => sending.stream === stream));
  }

  #refuse(subject: string): void {
    for (const [token, sending] of this.#inFlight) {
      if (sending.subject !== subject || sending.settled) continue;
      this.#inFlight.delete(token);
      const error = new AppError('UNAUTHORIZED', `this credential may not publish to ${subject}: run \`slate doctor\``);
      this.#fail(sending, error);
    }
  }

  #sweep(): void {
    if (this.#closed) return;
    const now = performance.now();
    for (const [token, sending] of this.#inFlight) {
      if (sending.deadlineAt <= now) this.#giveUp(sending, 'gave up');
      // Sent in order, so the rest is younger. While disconnected nothing can answer, and `reconnected` sends all
      // again.
      if (now - sending.sentAt < this.#ackTimeoutMs || !this.#bus.connected) continue;
      this.#inFlight.delete(token);
      if (sending.settled) this.#loop(sending.stream).dropped();
      else this.#retry(sending, 'no PubAck in time');
    }
    for (const loop of this.#loops.values()) {
      if (this.#hasDeadlines) {
        let overdue = 0;
        for (const sending of loop.queued()) {
          if (sending.deadlineAt > now) continue;
          this.#giveUp(sending, 'gave up');
          overdue++;
        }
        if (overdue > 0) loop.forgetSettled();
      }
      if (loop.waiting > 0) loop.pump();
    }
    if (this.#inFlight.size > 0 || [...this.#loops.values()].some((loop) => loop.waiting > 0)) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #end(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopListening();
    this.#ingest?.close();
    clearInterval(this.#sweeper);
    for (const sending of this.#inFlight.values()) this.#giveUp(sending, why);
    this.#inFlight.clear();
    for (const loop of this.#loops.values()) {
      loop.stop();
      for (const sending of loop.queued()) this.#giveUp(sending, why);
    }
  }
}

function unavailable(subject: string, why: string): AppError {
  return new AppError('BROKER_UNAVAILABLE', `not known to be stored on ${subject}: ${why}`);
}
