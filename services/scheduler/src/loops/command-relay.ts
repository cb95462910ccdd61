import type { Publisher } from '@cleanslate/bus';
import { type AppError, isAppError } from '@cleanslate/contracts';
import { type Database, findLeftOutbox, type OutboxCommand, removeSent, withTransaction } from '@cleanslate/store';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import { Loop } from './loop.ts';

/** Rows older than this were left behind by a process that died before their PubAck came. */
const LEFT_AFTER_MS = 5_000;
const LEFT_LIMIT = 500;
/** Rows go in batches this far apart: by then most doorbells are answered, and their steps need no note of where in the stream they hang. */
const REMOVE_MS = 500;

type Sent = { readonly outboxId: number; readonly streamSequence: number };

export type CommandRelayOptions = {
  readonly database: Database;
  readonly publisher: Publisher;
  /** What the broker will never take; resolves once the ledger knows. */
  readonly onUnsendable: (command: OutboxCommand, error: AppError) => Promise<void>;
  readonly onError: (error: unknown, name: string) => void;
};

/**
 * Publishes committed outbox rows: those of this process straight from memory, those left behind by others from the table. A row goes when its PubAck has
 * come; the broker being away only makes it wait.
 */
export class CommandRelay {
  readonly #options: CommandRelayOptions;
  readonly #abort = new AbortController();
  /** Rows on their way: the sweep must not send them a second time. */
  readonly #underway = new Set<number>();
  #sent: Sent[] = [];
  readonly #remover: Loop;
  readonly #sweeper: Loop;

  constructor(options: CommandRelayOptions) {
    this.#options = options;
    this.#remover = new Loop({
      name: 'outbox-remover',
      everyMs: REMOVE_MS,
      run: () => this.#remove(),
      onError: options.onError,
    });
    this.#sweeper = new Loop({
      name: 'outbox-sweeper',
      everyMs: 2_000,
      run: () => this.#sweep(),
      onError: options.onError,
    });
  }

  start(): void {
    this.#remover.start();
    this.#sweeper.start();
  }

  /** Returns at once; the rows are durable already. */
  send(commands: readonly OutboxCommand[]): void {
    for (const command of commands) void this.#publish(command);
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop();
    this.#abort.abort();
    await this.#remover.stop();
    await this.#remove().catch((error) => this.#options.onError(error, 'outbox-remover'));
  }

  async #publish(command: OutboxCommand): Promise<void> {
    if (this.#underway.has(command.outboxId)) return;
    this.#underway.add(command.outboxId);
    try {
      const { stream, subject, headers, messageId } = command;
      const ack = await this.#options.publisher.publish(
        { stream, subject, headers, messageId, body: Buffer.from(command.body) },
        { signal: this.#abort.signal },
      );
      this.#sent.push({ outboxId: command.outboxId, streamSequence: ack.seq });
    } catch (error) {
      if (isAppError(error) && error.code === 'PAYLOAD_TOO_LARGE') return await this.#giveUp(command, error);
      this.#underway.delete(command.outboxId);
      if (!this.#abort.signal.aborted) this.#options.onError(error, 'outbox-publish');
    }
  }

  /** Refused for good: the step ends with a dead letter, and the row goes. */
  async #giveUp(command: OutboxCommand, error: AppError): Promise<void> {
    try {
      await this.#options.onUnsendable(command, error);
      this.#sent.push({ outboxId: command.outboxId, streamSequence: 0 });
    } catch (again) {
      this.#underway.delete(command.outboxId);
      this.#options.onError(again, 'outbox-unsendable');
    }
  }

  async #remove(): Promise<boolean> {
    const sent = this.#sent.splice(0);
    if (sent.length === 0) return false;
    try {
      await withTransaction(this.#options.database, { ...LEDGER_SCOPE, relaxedDurability: true }, (tx) =>
        removeSent(tx, sent),
      );
    } catch (error) {
      this.#sent.unshift(...sent);
      throw error;
    }
    for (const { outboxId } of sent) this.#underway.delete(outboxId);
    return this.#sent.length > 0;
  }

  async #sweep(): Promise<boolean> {
    const left = await withTransaction(this.#options.database, { ...LEDGER_SCOPE, readOnly: true }, (tx) =>
      findLeftOutbox(tx, LEFT_AFTER_MS, LEFT_LIMIT),
    );
    this.send(left);
    return false;
  }
}
