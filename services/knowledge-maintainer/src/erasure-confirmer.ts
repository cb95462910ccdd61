import type { Database } from '@cleanslate/store';
import { confirmErasures } from './handlers/confirm-erasures.ts';

export type ErasureConfirmerOptions = {
  readonly database: Database;
  readonly onError: (error: unknown) => void;
  /** Pause between two looks. Milliseconds, default 1 s. */
  readonly everyMs?: number;
};

/** Looks for redactions that the scheduler has finished, one at a time; several replicas may. */
export class ErasureConfirmer {
  readonly #options: ErasureConfirmerOptions;
  #timer: NodeJS.Timeout | undefined;
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: ErasureConfirmerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    }, this.#options.everyMs ?? 1_000);
  }

  /** Returns after the redaction in hand: the others stay as they are, for whoever looks next. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { database, onError } = this.#options;
    try {
      while (await confirmErasures(database, onError, this.#stopped.signal));
    } catch (error) {
      onError(error);
    }
  }
}
