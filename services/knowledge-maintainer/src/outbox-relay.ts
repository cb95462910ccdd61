import type { Publisher } from '@cleanslate/bus';
import {
  type Database,
  deleteKnowledgeOutbox,
  findLeftKnowledgeOutbox,
  type KnowledgeOutboxRow,
  withTransaction,
} from '@cleanslate/store';

export type OutboxRelayOptions = {
  readonly database: Database;
  readonly publisher: Publisher;
  readonly onError: (error: unknown) => void;
  /** How often to look for rows that nobody published. Milliseconds, default 1 s. */
  readonly sweepMs?: number;
  /** Younger rows are left to the replica that committed them. Milliseconds, default 2 s. */
  readonly leftAfterMs?: number;
};

const WINDOW = 500;
const MAINTAINER = { role: 'cleanslate_maintainer' } as const;

/**
 * Publishes committed outbox rows and deletes each once its PubAck has come. A sweep finds what a crash or an outage
 * left behind.
 */
export class OutboxRelay {
  readonly #options: OutboxRelayOptions;
  readonly #inFlight = new Set<number>();
  readonly #encoder = new TextEncoder();
  #sends = new Set<Promise<void>>();
  #sweeping: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OutboxRelayOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.#sweep().finally(() => {
        this.#sweeping = undefined;
      });
    }, this.#options.sweepMs ?? 1_000);
  }

  /** Rows that were just committed. Returns at once. */
  send(rows: readonly KnowledgeOutboxRow[]): void {
    const fresh = rows.filter(({ outboxId }) => !this.#inFlight.has(outboxId));
    if (fresh.length === 0) return;
    for (const { outboxId } of fresh) this.#inFlight.add(outboxId);
    const sending = this.#publish(fresh).finally(() => {
      for (const { outboxId } of fresh) this.#inFlight.delete(outboxId);
      this.#sends.delete(sending);
    });
    this.#sends.add(sending);
  }

  /** No more sweeps; waits for PubAcks at most `timeoutMs`. The next process sweeps what is left. */
  async stop(timeoutMs: number): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([Promise.all(this.#sends), late]);
    clearTimeout(timer);
  }

  /** Never rejects: a row whose publish or deletion fails stays and is swept. */
  async #publish(rows: readonly KnowledgeOutboxRow[]): Promise<void> {
    const { database, publisher, onError } = this.#options;
    const sent = await Promise.all(
      rows.map(async ({ outboxId, stream, subject, headers, body, messageId }) => {
        try {
          await publisher.publish({ stream, subject, headers, body: this.#encoder.encode(body), messageId });
          return [outboxId];
        } catch (error) {
          onError(error);
          return [];
        }
      }),
    );
    await withTransaction(database, MAINTAINER, (tx) => deleteKnowledgeOutbox(tx, sent.flat())).catch(onError);
  }

  async #sweep(): Promise<void> {
    const { database, onError, leftAfterMs = 2_000 } = this.#options;
    if (this.#inFlight.size >= WINDOW) return;
    const left = withTransaction(database, MAINTAINER, (tx) => findLeftKnowledgeOutbox(tx, leftAfterMs, WINDOW));
    await left.then((rows) => this.send(rows)).catch(onError);
  }
}
