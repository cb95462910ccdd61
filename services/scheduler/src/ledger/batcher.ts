export type Lane = 'prompt' | 'bulk';

type Entry<Item, Result> = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };

/**
 * Natural batching: whatever arrived while the last batch committed is the next one. An idle ledger answers at once, a busy one pays for one
 * transaction per batch.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;
  readonly #maxBatch: number;
  readonly #maxBulk: number;
  #waiting: Entry<Item, Result>[] = [];
  #bulk: Entry<Item, Result>[] = [];
  #busy = false;
  #idle: (() => void)[] = [];

  /** `run` gives one result per item, in order (an `Error` rejects that item); what it throws rejects every item of the batch. */
  constructor(
    run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
    maxBatch: number,
    maxBulk = maxBatch,
  ) {
    this.#run = run;
    this.#maxBatch = maxBatch;
    this.#maxBulk = maxBulk;
  }

  get waiting(): number {
    return this.#waiting.length + this.#bulk.length;
  }

  /** `bulk` items take a part of each batch only: whoever sends many of them delays the others by that part. */
  add(item: Item, lane: Lane = 'prompt'): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    (lane === 'bulk' ? this.#bulk : this.#waiting).push({ item, resolve, reject });
    this.#pump();
    return promise;
  }

  /** Resolves when nothing waits and nothing runs. */
  async drained(): Promise<void> {
    if (!this.#busy && this.waiting === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #pump(): void {
    if (this.#busy) return;
    this.#busy = true;
    // After the current tick, so that everything one read of the socket brought shares a batch.
    setImmediate(() => void this.#loop());
  }

  async #loop(): Promise<void> {
    while (this.waiting > 0) {
      const batch = [...this.#waiting.slice(0, this.#maxBatch), ...this.#bulk.slice(0, this.#maxBulk)];
      this.#waiting = this.#waiting.slice(this.#maxBatch);
      this.#bulk = this.#bulk.slice(this.#maxBulk);
      try {
        const results = await this.#run(batch.map((entry) => entry.item));
        for (const [i, entry] of batch.entries()) {
          const result = results[i];
          if (result instanceof Error) entry.reject(result);
          else entry.resolve(result as Result);
        }
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
    }
    this.#busy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
