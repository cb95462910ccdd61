import type { World } from './world.ts';

export type Delivery<T> = { readonly seq: number; readonly body: T };

/** Who takes a message: false where nobody is there to. */
export type Consumer<T> = (delivery: Delivery<T>) => boolean;

/** A work queue as JetStream keeps it: at least once, again after the ack wait, deduplicated by message id. */
export class MemoryQueue<T> {
  readonly #world: World;
  readonly #name: 'doorbell' | 'report';
  readonly #ackWaitMs: number;
  readonly #stored = new Map<number, T>();
  readonly #ids = new Map<string, { readonly seq: number; readonly at: number }>();
  #last = 0;
  /** Set once the processes exist. */
  consumer: Consumer<T> = () => false;

  constructor(world: World, name: 'doorbell' | 'report', ackWaitMs: number) {
    this.#world = world;
    this.#name = name;
    this.#ackWaitMs = ackWaitMs;
  }

  get size(): number {
    return this.#stored.size;
  }

  holds(seq: number): boolean {
    return this.#stored.has(seq);
  }

  /** Returns the stream sequence as the PubAck names it; undefined where there is none. */
  publish(messageId: string, body: T): number | undefined {
    const now = this.#world.clock.now();
    const known = this.#ids.get(messageId);
    if (known !== undefined && now - known.at < DEDUPE_MS) return known.seq;
    const seq = this.#last + 1;
    const outcome = this.#world.send(this.#name, () => this.#deliver(seq));
    if (outcome === 'dropped') return undefined;
    this.#last = seq;
    this.#ids.set(messageId, { seq, at: now });
    if (outcome === 'sent') this.#stored.set(seq, body);
    return seq;
  }

  ack(seq: number): void {
    this.#stored.delete(seq);
  }

  /** Again, a little later. */
  nak(seq: number, delayMs: number): void {
    this.#world.clock.after(delayMs, () => this.#deliver(seq));
  }

  #deliver(seq: number): void {
    const body = this.#stored.get(seq);
    if (body === undefined) return;
    const taken = this.consumer({ seq, body });
    this.#world.clock.after(taken ? this.#ackWaitMs : NOBODY_MS, () => this.#deliver(seq));
  }
}

const DEDUPE_MS = 120_000;
const NOBODY_MS = 250;
