import { awaitNewerReader, type PulledMessage } from '@cleanslate/bus';
import { toAppError } from '@cleanslate/contracts';
import { parseTraceparent } from '@cleanslate/runtime';
import { type Decoded, decodeKnowledgeMessage } from './handlers/decode-message.ts';
import { taskKey } from './handlers/route-candidates.ts';
import type { MaintainerBatch } from './handlers/settle-batch.ts';

export type IntakeOptions = {
  /** Commits a batch. Throws what the database throws; nothing of it is then kept. */
  readonly apply: (batch: MaintainerBatch) => Promise<void>;
  /** Moves a message that nobody can use to the dead letters, and settles it. */
  readonly deadLetter: (message: PulledMessage, error: unknown) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
  /** How long a message of a newer version waits for a maintainer that reads it. */
  readonly rolloutMs: number;
  /** The database is away: called before messages in hand are handed back. */
  readonly onOutage: () => void;
};

type Item = { readonly message: PulledMessage; readonly decoded: Decoded };

const MAX_BATCH = 500;
const OUTAGE_NAK_MS = 5_000;
/** A message that can't be applied although the database is there is given up on at this delivery. */
const MAX_FAILED_DELIVERIES = 5;

/**
 * Natural batching: what arrives while one transaction runs forms the next one. A message is acked only after its rows
 * are committed.
 */
export class Intake {
  readonly #options: IntakeOptions;
  #waiting: Item[] = [];
  #running: Promise<void> | undefined;
  /** Dead letters on their way: a slow one holds up nobody. */
  readonly #refusals = new Set<Promise<void>>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Decoded on arrival, while the database is busy with the batch before. */
  receive(message: PulledMessage): void {
    try {
      this.#waiting.push({ message, decoded: decodeKnowledgeMessage(message) });
      this.#running ??= this.#run();
    } catch (error) {
      this.#refuse(message, error);
    }
  }

  /** Resolves when everything received is settled. */
  async idle(): Promise<void> {
    await this.#running;
    await Promise.all(this.#refusals);
  }

  async #run(): Promise<void> {
    // Messages of one pull arrive in one tick or a few: let them come together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      await this.#apply(this.#waiting.splice(0, MAX_BATCH)).catch(this.#options.onError);
    }
    this.#running = undefined;
  }

  #refuse(message: PulledMessage, error: unknown): void {
    this.#options.onError(error);
    if (awaitNewerReader(message, error, this.#options.rolloutMs)) return;
    const refusal = this.#options
      .deadLetter(message, error)
      .then(() => undefined, this.#options.onError)
      .finally(() => this.#refusals.delete(refusal));
    this.#refusals.add(refusal);
  }

  async #apply(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return;
    try {
      await this.#options.apply(toBatch(items));
      for (const { message } of items) message.ack();
    } catch (error) {
      this.#options.onError(error);
      await this.#failed(items, error);
    }
  }

  async #failed(items: readonly Item[], error: unknown): Promise<void> {
    if (toAppError(error).code === 'DATABASE_UNAVAILABLE') {
      this.#options.onOutage();
      for (const { message } of items) message.nak(OUTAGE_NAK_MS);
      return;
    }
    const [only, ...others] = items;
    if (only === undefined) return;
    if (others.length > 0) {
      // One of them is at fault: the others must not wait for it.
      for (const item of items) await this.#apply([item]);
    } else if (only.message.deliveries >= MAX_FAILED_DELIVERIES) this.#refuse(only.message, error);
    else only.message.nak(1_000 * 2 ** only.message.deliveries);
  }
}

function toBatch(items: readonly Item[]): MaintainerBatch {
  return {
    candidates: items.flatMap(({ decoded }) => (decoded.kind === 'candidate' ? [decoded.candidate] : [])),
    settlements: items.flatMap(({ decoded }) => (decoded.kind === 'settlement' ? [decoded.settlement] : [])),
    traces: new Map(items.flatMap(toTrace)),
  };
}

function toTrace({ message, decoded }: Item): [string, string][] {
  const traceparent = message.headers.get('traceparent');
  if (parseTraceparent(traceparent) === undefined) return [];
  return [[taskKey(decoded.kind === 'candidate' ? decoded.candidate : decoded.settlement), traceparent]];
}
