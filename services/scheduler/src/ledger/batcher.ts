import { setImmediate } from 'node:timers/promises';

export type Lane = 'prompt' | 'bulk';

type Entry<Item, Result> = { readonly item: Item; readonly settle: (result: Result | Error) => void };

/** Gives one result per item, in order (an `Error` rejects that item), and does what follows from the batch. */
export type Finish<Result> = () => readonly (Result | Error)[];

/**
 * Natural batching: whatever arrived while the last batch committed is the next one. An idle ledger answers at once, a busy one pays for one
 * transaction per batch. What follows from a batch is done while the next one waits for its first answer.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<Finish<Result>>;
  readonly #maxBatch: number;
  readonly #maxBulk: number;
  readonly #waiting: Entry<Item, Result>[] = [];
  readonly #bulk: Entry<Item, Result>[] = [];
  #busy = false;
  #idle: (() => void)[] = [];

  /** What `run` throws rejects every item of the batch. */
  constructor(run: (items: readonly Item[]) => Promise<Finish<Result>>, maxBatch: number, maxBulk = maxBatch) {
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
    void setImmediate().then(() => this.#loop());
  }

  async #loop(): Promise<void> {
    let finish: (() => void) | undefined;
    while (this.waiting > 0) {
      const batch = [...this.#waiting.splice(0, this.#maxBatch), ...this.#bulk.splice(0, this.#maxBulk)];
      const running = this.#settle(batch);
      if (finish !== undefined) {
        // By then its first statements have left.
        await setImmediate();
        finish();
      }
      finish = await running;
      if (this.waiting > 0) continue;
      finish();
      finish = undefined;
    }
    this.#busy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Resolves with what tells the items of a batch their results. Neither throws: the loop must go on. */
  async #settle(batch: readonly Entry<Item, Result>[]): Promise<() => void> {
    const rejectAll = (error: unknown) => {
      const thrown = error instanceof Error ? error : new Error(String(error));
      for (const entry of batch) entry.settle(thrown);
    };
    try {
      const finish = await this.#run(batch.map((entry) => entry.item));
      return () => {
        try {
          const results = finish();
          batch.forEach((entry, i) => {
            entry.settle(results[i] as Result | Error);
          });
        } catch (error) {
          rejectAll(error);
        }
      };
    } catch (error) {
      return () => rejectAll(error);
    }
  }
}
