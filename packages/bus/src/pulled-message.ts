import type { Msg } from '@nats-io/nats-core';
import type { Bus } from './bus.ts';
import { type ReceivedHeaders, toReceivedHeaders } from './headers.ts';

/** Longer waits end the message and become a due time in the ledger: a delayed nak counts against `max_ack_pending`. */
export const MAX_NAK_DELAY_MS = 30_000;

/** Where a message of a stream stands. */
export type Delivery = {
  readonly stream: string;
  readonly durable: string;
  readonly deliveries: number;
  readonly streamSequence: number;
};

const encoder = new TextEncoder();
const ACK = encoder.encode('+ACK');
const NAK = encoder.encode('-NAK');
const WORKING = encoder.encode('+WPI');
const TERM = encoder.encode('+TERM');

/**
 * A message of a durable. `ack`, `nak` and `term` settle it, once, without waiting for the broker (a lost ack is a
 * redelivery, and redelivery is harmless by design); later calls do nothing.
 */
export class PulledMessage {
  readonly delivery: Delivery;
  readonly #bus: Pick<Bus, 'soon'>;
  readonly #message: Msg;
  readonly #onEnd: (what: 'settled' | 'released') => void;
  #data: Uint8Array | undefined;
  #headers: ReceivedHeaders | undefined;
  #settled = false;

  /** Throws when `message` does not come from a stream. */
  constructor(bus: Pick<Bus, 'soon'>, message: Msg, onEnd: (what: 'settled' | 'released') => void) {
    this.#bus = bus;
    this.#message = message;
    this.#onEnd = onEnd;
    this.delivery = parseAckSubject(message.reply ?? '');
  }

  get subject(): string {
    return this.#message.subject;
  }

  /** The client makes a view of it for each that asks. */
  get data(): Uint8Array {
    this.#data ??= this.#message.data;
    return this.#data;
  }

  get headers(): ReceivedHeaders {
    this.#headers ??= toReceivedHeaders(this.#message);
    return this.#headers;
  }

  get streamSequence(): number {
    return this.delivery.streamSequence;
  }

  /** When the broker took it, by the broker's clock. Milliseconds since 1970. */
  get storedAt(): number {
    return Math.floor(Number(toTokens(this.#message.reply ?? '')[5]) / 1e6);
  }

  /** From 1. */
  get deliveries(): number {
    return this.delivery.deliveries;
  }

  get settled(): boolean {
    return this.#settled;
  }

  ack(): void {
    this.#settle(ACK);
  }

  /** Delivered again after the delay (default at once, at most 30 s). */
  nak(delayMs = 0): void {
    const delay = Math.min(MAX_NAK_DELAY_MS, Math.max(0, Math.round(delayMs)));
    this.#settle(delay === 0 ? NAK : encoder.encode(`-NAK {"delay": ${delay * 1_000_000}}`));
  }

  /** Never delivered again, and removed from a work queue. */
  term(reason?: string): void {
    this.#settle(reason === undefined ? TERM : encoder.encode(`+TERM ${reason.replace(/[\r\n]/g, ' ').slice(0, 200)}`));
  }

  /** Starts the ack wait anew. */
  working(): void {
    if (!this.#settled) this.#respond(WORKING);
  }

  /** Frees the message's slot where the loop holds slots beyond the ack. */
  release(): void {
    this.#onEnd('released');
  }

  #settle(answer: Uint8Array): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#respond(answer);
    this.#onEnd('settled');
  }

  #respond(answer: Uint8Array): void {
    // Fails where the connection is closed or draining: the message comes again.
    this.#bus.soon(() => this.#message.respond(answer));
  }
}

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>`, or with
 * `<domain>.<account hash>` before the stream and a random token at the end.
 */
export function parseAckSubject(reply: string): Delivery {
  const [stream, durable, deliveries, sequence] = toTokens(reply);
  const parsed = {
    stream: stream ?? '',
    durable: durable ?? '',
    deliveries: Number(deliveries),
    streamSequence: Number(sequence),
  };
  if (
    !reply.startsWith('$JS.ACK.') ||
    !Number.isInteger(parsed.deliveries) ||
    !Number.isInteger(parsed.streamSequence)
  ) {
    throw new Error(`not a message of a stream: reply subject "${reply.slice(0, 200)}"`);
  }
  return parsed;
}

/** From the stream on. */
function toTokens(reply: string): readonly string[] {
  const tokens = reply.split('.');
  return tokens.slice(tokens.length === 9 ? 2 : 4);
}
