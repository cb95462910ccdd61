import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

type Entry = { readonly at: number; readonly order: number; readonly run: () => void };

/** One run of user code. It is asleep while it waits on the clock; else time stands still until it goes on. */
type Execution = { sleeping: number; settled: boolean; stalled: boolean };

const executions = new AsyncLocalStorage<Execution>();

export const START = Date.UTC(2026, 0, 1);

/**
 * Time that takes no time: whatever waits is woken in the order of its due times. Hand it to executors that wait
 * (`clock.sleep`, `clock.now`), and to `runInMemory`.
 */
export class VirtualClock {
  #now = START;
  #order = 0;
  readonly #entries: Entry[] = [];
  readonly #open = new Set<Execution>();

  /** Milliseconds since 1970. */
  readonly now = (): number => this.#now;

  /** Waits in virtual time; throws the signal's reason when that fires first. */
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    const execution = executions.getStore();
    if (execution) execution.sleeping++;
    return new Promise<void>((resolve, reject) => {
      const wake = (end: () => void) => {
        if (execution) execution.sleeping--;
        end();
      };
      const onAbort = () => {
        forget();
        wake(() => reject(signal?.reason));
      };
      const forget = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        wake(resolve);
      });
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort, { once: true });
    });
  };

  /** Runs something after so many milliseconds; returns what calls it off. */
  after(ms: number, run: () => void): () => void {
    const entry = { at: this.#now + Math.max(0, ms), order: this.#order++, run };
    const isLater = (other: Entry) => other.at > entry.at;
    // Most of what is added is due soon, and the list is short.
    const index = this.#entries.findLastIndex((other) => !isLater(other)) + 1;
    this.#entries.splice(index, 0, entry);
    return () => {
      const found = this.#entries.indexOf(entry);
      if (found !== -1) this.#entries.splice(found, 1);
    };
  }

  /** Starts user code, which must not throw. Until it ends, or waits on this clock, time stands still. */
  execute<T>(work: () => Promise<T>, onEnd: (value: T) => void): void {
    const execution: Execution = { sleeping: 0, settled: false, stalled: false };
    this.#open.add(execution);
    void executions.run(execution, work).then((value) => {
      execution.settled = true;
      this.#open.delete(execution);
      onEnd(value);
    });
  }

  /**
   * Lets time pass until nothing waits any more. `onStall`: user code took longer in real time than `realLimitMs`; it
   * counts as hanging from then on.
   */
  async run(options: { readonly realLimitMs: number; readonly maxEvents: number; readonly onStall: () => void }) {
    for (let events = 0; ; events++) {
      if (events > options.maxEvents) throw new Error(`still not at rest after ${options.maxEvents} events`);
      await this.#settle(options);
      const entry = this.#entries.shift();
      if (entry === undefined) return;
      this.#now = Math.max(this.#now, entry.at);
      entry.run();
    }
  }

  async #settle({ realLimitMs, onStall }: { readonly realLimitMs: number; readonly onStall: () => void }) {
    const giveUpAt = performance.now() + realLimitMs;
    for (let awake = this.#awake(); awake.length > 0; awake = this.#awake()) {
      await turn();
      if (performance.now() < giveUpAt) continue;
      for (const execution of awake) execution.stalled = true;
      onStall();
    }
  }

  #awake(): readonly Execution[] {
    return [...this.#open].filter(({ sleeping, settled, stalled }) => sleeping === 0 && !settled && !stalled);
  }
}

/** A clock of its own: two runs on one clock would pass each other's time. */
export function virtualClock(): VirtualClock {
  return new VirtualClock();
}
