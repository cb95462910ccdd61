import { Run, type Turn } from './turn.ts';

export type Lane = 'prompt' | 'bulk';

type Entry<Item, Result> = { readonly item: Item; readonly settle: (result: Result | Error) => void };

export type BatcherOptions<Item> = {
  readonly maxBatch: number;
  /** Of the bulk lane, in addition. Default: as many. */
  readonly maxBulk?: number;
  /** Absent: each run begins when the one before it has ended. */
  readonly overlap?: {
    /** This many items must wait for a run to begin beside another one; fewer wait for its end. */
    readonly atLeast: number;
    /** Items of one key are never in two runs at once. `null`: in none beside another; undefined: in any. */
    readonly keyOf: (item: Item) => string | null | undefined;
  };
};

/**
 * Natural batching: whatever arrived while the last batch committed forms the next one. An idle ledger answers at once,
 * a busy one pays for one transaction per batch. If runs may overlap, the next one gets ready while the one before it
 * is written: two at most.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[], turn: Turn) => Promise<readonly (Result | Error)[]>;
  readonly #options: BatcherOptions<Item>;
  readonly #waiting: Entry<Item, Result>[] = [];
  readonly #bulk: Entry<Item, Result>[] = [];
  readonly #runs: Run[] = [];
  #isBeginning = false;
  #idle: (() => void)[] = [];

  /**
   * `run` returns one result per item, in order (an `Error` rejects that item); what it throws rejects every item of
   * the batch.
   */
  constructor(
    run: (items: readonly Item[], turn: Turn) => Promise<readonly (Result | Error)[]>,
    options: BatcherOptions<Item>,
  ) {
    this.#run = run;
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length + this.#bulk.length;
  }

  /** `bulk` items take only a part of each batch: whoever sends many of them delays the others by that part. */
  add(item: Item, lane: Lane = 'prompt'): Promise<Result> {
    return new Promise((resolve, reject) => {
      const settle = (result: Result | Error) => (result instanceof Error ? reject(result) : resolve(result));
      (lane === 'bulk' ? this.#bulk : this.#waiting).push({ item, settle });
      this.#beginSoon();
    });
  }

  /**
   * Items that belong together, one right after the other; resolves with a result for each, in order, once all of them
   * have one.
   */
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
      this.#beginSoon();
    });
  }

  /** Resolves when nothing waits and nothing runs. */
  async drained(): Promise<void> {
    if (this.#runs.length === 0 && this.waiting === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** After the current tick, so that everything one read of the socket brought shares a batch. */
  #beginSoon(): void {
    if (this.#isBeginning || !this.#mayBegin()) return;
    this.#isBeginning = true;
    setImmediate(() => {
      this.#isBeginning = false;
      this.#begin();
    });
  }

  #mayBegin(): boolean {
    if (this.waiting === 0) return false;
    const [before, beside] = this.#runs;
    if (before === undefined) return true;
    const { overlap } = this.#options;
    if (overlap === undefined || beside !== undefined || before.isAlone || !before.isPrepared) return false;
    // Whatever began meanwhile would run beside the next one, too: what has to be alone would never find nothing
    // running.
    if ([this.#waiting, this.#bulk].some(([first]) => first !== undefined && overlap.keyOf(first.item) === null))
      return false;
    return before.hasPassedOn || this.waiting >= overlap.atLeast;
  }

  #begin(): void {
    if (!this.#mayBegin()) return;
    const { maxBatch, maxBulk = maxBatch } = this.#options;
    const batch = [...this.#take(this.#waiting, maxBatch), ...this.#take(this.#bulk, maxBulk)];
    if (batch.length > 0) void this.#execute(batch);
  }

  /** From the head of a lane; what must not run beside a run in progress keeps its place. */
  #take(lane: Entry<Item, Result>[], limit: number): readonly Entry<Item, Result>[] {
    const [before] = this.#runs;
    const keyOf = this.#options.overlap?.keyOf;
    if (before === undefined || keyOf === undefined) return lane.splice(0, limit);
    const taken: Entry<Item, Result>[] = [];
    const left: Entry<Item, Result>[] = [];
    let seen = 0;
    for (const entry of lane) {
      const key = keyOf(entry.item);
      if (key === null || taken.length >= limit) break;
      seen++;
      (key !== undefined && before.keys.has(key) ? left : taken).push(entry);
    }
    lane.splice(0, seen, ...left);
    return taken;
  }

  async #execute(batch: readonly Entry<Item, Result>[]): Promise<void> {
    const items = batch.map((entry) => entry.item);
    const run = this.#enter(items);
    try {
      const results = await this.#run(items, run);
      batch.forEach((entry, i) => {
        entry.settle(results[i] as Result | Error);
      });
    } catch (error) {
      const thrown = error instanceof Error ? error : new Error(String(error));
      for (const entry of batch) entry.settle(thrown);
    }
    this.#leave(run);
  }

  #enter(items: readonly Item[]): Run {
    const keys = new Set<string>();
    let isAlone = false;
    for (const item of this.#options.overlap === undefined ? [] : items) {
      const key = this.#options.overlap?.keyOf(item);
      if (key === null) isAlone = true;
      else if (key !== undefined) keys.add(key);
    }
    const run = new Run(keys, isAlone, this.#runs.at(-1), () => this.#beginSoon());
    this.#runs.push(run);
    return run;
  }

  #leave(run: Run): void {
    this.#runs.splice(this.#runs.indexOf(run), 1);
    run.passOn();
    this.#begin();
    if (this.#runs.length > 0 || this.waiting > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
