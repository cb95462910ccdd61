export type Lane = 'prompt' | 'bulk';

type Entry<Item, Result> = { readonly item: Item; readonly settle: (result: Result | Error) => void };

/**
 * Natural batching: whatever arrived while the last batch committed is the next one. An idle ledger answers at once, a busy one pays for one
 * transaction per batch.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;
  readonly #maxBatch: number;
  readonly #maxBulk: number;
  readonly #waiting: Entry<Item, Result>[] = [];
  readonly #bulk: Entry<Item, Result>[] = [];
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
    return new Promise((resolve, reject) => {
      const settle = (result: Result | Error) => (result instanceof Error ? reject(result) : resolve(result));
      (lane === 'bulk' ? this.#bulk : this.#waiting).push({ item, settle });
      this.#pump();
    });
  }

  /** Items that belong together, one right behind the other; resolves with a result for each, in order, once all of them have one. */
  addAll(items: readonly Item[]): Promise<readonly (Result | Error)[]> {
    if (items.length === 0) return Promise.resolve([]);
    return new Promise((resolve) => {
      const results = new Array<Result | Error>(items.length);
      let left = items.length;
      items.forEach((item, i) => {
        const settle = (result: Result | Error) => {
          results[i] = result;
          if (--left === 0) resolve(results);
        };
        this.#waiting.push({ item, settle });
      });
      this.#pump();
    });
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
      const batch = [...this.#waiting.splice(0, this.#maxBatch), ...this.#bulk.splice(0, this.#maxBulk)];
      try {
        const results = await this.#run(batch.map((entry) => entry.item));
        batch.forEach((entry, i) => {
          entry.settle(results[i] as Result | Error);
        });
      } catch (error) {
        const thrown = error instanceof Error ? error : new Error(String(error));
        for (const entry of batch) entry.settle(thrown);
      }
    }
    this.#busy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
