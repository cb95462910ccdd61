import type { Database, KnowledgeOutboxRow } from '@cleanslate/store';
import { sweepPeriods } from './handlers/sweep-periods.ts';

export type PeriodSweeperOptions = {
  readonly database: Database;
  readonly onWritten: (outbox: readonly KnowledgeOutboxRow[]) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds, default 1 s. */
  readonly everyMs?: number;
};

/**
 * Looks each second at facts that began or ended by themselves. Several replicas may: they take turns, and each moment
 * is examined once.
 */
export class PeriodSweeper {
  readonly #options: PeriodSweeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(options: PeriodSweeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.#sweep().finally(() => {
        this.#sweeping = undefined;
      });
    }, this.#options.everyMs ?? 1_000);
  }

  /** Returns after the portion in hand: whoever sweeps next looks at the rest. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped = true;
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { database, onWritten, onError } = this.#options;
    try {
      for (let more = true; more && !this.#stopped; ) {
        const swept = await sweepPeriods(database);
        onWritten(swept.outbox);
        more = swept.more;
      }
    } catch (error) {
      onError(error);
    }
  }
}
