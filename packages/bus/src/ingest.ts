import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import type { Bus } from './bus.ts';
import type { BusSubscription } from './subscription.ts';

/** A message of a run, ready to be sent. */
export type RunMessage = { readonly subject: string; readonly body: Uint8Array; readonly headers: MsgHdrs };

/**
 * The longest run. A client is to pause where the broker's answers fall behind, of which it gives one for 500 messages
 * at least: a run of so many goes out in one piece.
 */
export const MAX_RUN = 500;
/** Answers are asked for after so many, that is, only at the end. The broker gives more of them where it is busy. */
const WINDOW = 1_000;
/** What a reply subject says of its message, behind the message's place in the run. */
const START = 0;
const APPEND = 1;
const LAST = 2;
/** Where a run was not stored, the next ones are not tried for this long: the broker or the stream may not take any. */
const REST_MS = 10_000;

type Run = {
  readonly id: string;
  readonly count: number;
  /** Where the broker answers for the whole of it. */
  readonly lastReply: string;
  /** `why`: it is not known to be stored. */
  readonly settle: (why: string | undefined) => void;
};

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
      if (status.type === 'disconnected') this.#run?.settle('disconnected');
    });
  }

  /** False while a run is under way, and for a while after one that was not stored. */
  get isReady(): boolean {
    return this.#run === undefined && this.#bus.connected && performance.now() >= this.#restsUntil;
  }

  /**
   * Sends a run in one turn, of `MAX_RUN` messages at most. Undefined: all of them are stored, in their order. Else why
   * that is not known: those at the beginning may be. Never throws.
   */
  async send(messages: readonly RunMessage[], timeoutMs: number): Promise<string | undefined> {
    // The broker knows open runs by their ids alone, whoever sends them.
    const id = `${this.#inbox.slice(this.#inbox.lastIndexOf('.') + 1)}-${(++this.#runs).toString(36)}`;
    const prefix = `${this.#inbox}.${id}.${WINDOW}.fail.`;
    const count = messages.length;
    let timer: NodeJS.Timeout | undefined;
    const why = await new Promise<string | undefined>((settle) => {
      const run = { id, count, lastReply: `${prefix}${count}.${LAST}.$FI`, settle };
      this.#run = run;
      timer = setTimeout(() => settle('not answered in time'), timeoutMs);
      this.#bus.soon(() => this.#publish(run, prefix, messages));
    });
    clearTimeout(timer);
    this.#run = undefined;
    if (why !== undefined) this.#restsUntil = performance.now() + REST_MS;
    return why;
  }

  close(): void {
    this.#run?.settle('closed');
    this.#stopListening();
    this.#answers.unsubscribe();
  }

  #publish(run: Run, prefix: string, messages: readonly RunMessage[]): void {
    // Closed or disconnected in the same turn.
    if (this.#run !== run) return;
    try {
      messages.forEach(({ subject, body, headers }, i) => {
        const reply = i + 1 === run.count ? run.lastReply : `${prefix}${i + 1}.${i === 0 ? START : APPEND}.$FI`;
        this.#bus.raw.publish(subject, body, { reply, headers });
      });
    } catch (error) {
      // Closed or draining.
      run.settle(String(error));
    }
  }

  #answer(message: Msg): void {
    const run = this.#run;
    if (run === undefined || !message.subject.startsWith(`${this.#inbox}.${run.id}.`)) return;
    const answer = readAnswer(message);
    if (answer.type === 'ack') return;
    const { batch, count } = answer;
    const isWhole = batch === run.id && count === run.count && message.subject === run.lastReply;
    run.settle(isWhole ? undefined : (answer.error?.description ?? `answered ${message.string()}`));
  }
}

/**
 * While a run is open: `ack`, how far it is; `gap`, a message of it did not come. At its end a PubAck with its id and
 * how many of it are stored. A server that knows no runs answers each message by itself, with an ordinary PubAck.
 */
type Answer = {
  readonly type?: string;
  readonly batch?: string;
  readonly count?: number;
  readonly error?: { readonly description?: string };
};

function readAnswer(message: Msg): Answer {
  try {
    return message.json<Answer>();
  } catch {
    return { error: { description: 'the answer is not JSON' } };
  }
}
