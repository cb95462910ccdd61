import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import type { Bus } from './bus.ts';
import type { BusSubscription } from './subscription.ts';

/** A message of a run, ready to be sent. */
export type RunMessage = { readonly subject: string; readonly body: Uint8Array; readonly headers: MsgHdrs };

/**
 * The longest run. The broker asks for a pause only where a thousand messages are unanswered (it grants two windows of
 * 500, whatever a client asks for), so a shorter run goes out in one piece.
 */
export const MAX_RUN = 500;
const WINDOW = 1_000;
/** What the part behind the sequence in a reply subject says. */
const START = 0;
const APPEND = 1;
const LAST = 2;
/** Where a run was not stored, the next ones are not tried for this long: the broker or the stream may not take any. */
const REST_MS = 10_000;

type Run = { readonly id: string; readonly count: number; readonly settle: (stored: boolean) => void };

/**
 * Runs of messages into one stream by the broker's fast ingest (ADR-50; nats-server 2.14 and a stream with
 * `allow_batched`): each message is stored as it arrives and deduplicated by its id, the first that is not ends the
 * run, and one PubAck tells how many are stored. That costs half of a PubAck for each. One run at a time.
 */
export class Ingest {
  readonly #bus: Bus;
  readonly #inbox: string;
  readonly #answers: BusSubscription;
  readonly #stopListening: () => void;
  #run: Run | undefined;
  #runs = 0;
  #restsUntil = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
    this.#inbox = bus.newInbox();
    this.#answers = bus.subscribe(`${this.#inbox}.>`, (message) => this.#answer(message));
    this.#stopListening = bus.onStatus((status) => {
      if (status.type === 'disconnected') this.#run?.settle(false);
    });
  }

  /** False while a run is under way, and for a while after one that was not stored. */
  get isReady(): boolean {
    return this.#run === undefined && this.#bus.connected && performance.now() >= this.#restsUntil;
  }

  /**
   * Sends a run in one turn, of `MAX_RUN` messages at most. True: all of them are stored, in their order. False: those
   * at the beginning may be. Never throws.
   */
  async send(messages: readonly RunMessage[], timeoutMs: number): Promise<boolean> {
    const id = (++this.#runs).toString(36);
    let timer: NodeJS.Timeout | undefined;
    const isStored = await new Promise<boolean>((settle) => {
      this.#run = { id, count: messages.length, settle };
      timer = setTimeout(() => settle(false), timeoutMs);
      this.#bus.soon(() => this.#publish(id, messages));
    });
    clearTimeout(timer);
    this.#run = undefined;
    if (!isStored) this.#restsUntil = performance.now() + REST_MS;
    return isStored;
  }

  close(): void {
    this.#run?.settle(false);
    this.#stopListening();
    this.#answers.unsubscribe();
  }

  #publish(id: string, messages: readonly RunMessage[]): void {
    const prefix = `${this.#inbox}.${id}.${WINDOW}.fail.`;
    const last = messages.length - 1;
    try {
      messages.forEach(({ subject, body, headers }, i) => {
        const part = i === last ? LAST : i === 0 ? START : APPEND;
        this.#bus.raw.publish(subject, body, { reply: `${prefix}${i + 1}.${part}.$FI`, headers });
      });
    } catch {
      // Closed or draining.
      this.#run?.settle(false);
    }
  }

  #answer(message: Msg): void {
    const run = this.#run;
    if (run === undefined || !message.subject.startsWith(`${this.#inbox}.${run.id}.`)) return;
    const told = readAnswer(message);
    if (told === 'progress') return;
    run.settle(told === run.count);
  }
}

type Answer = {
  readonly type?: string;
  readonly batch?: string;
  readonly count?: number;
  readonly error?: object;
};

/**
 * How many messages of its run the broker has stored, of which each one's sequence in the run is known to it. A broker
 * that does not know runs answers each message by itself, and one that refuses a message says why: that is 0.
 */
function readAnswer(message: Msg): number | 'progress' {
  let answer: Answer;
  try {
    answer = message.json<Answer>();
  } catch {
    return 0;
  }
  if (answer.error !== undefined) return 0;
  if (answer.type === 'ack') return 'progress';
  return answer.batch === undefined ? 0 : (answer.count ?? 0);
}
