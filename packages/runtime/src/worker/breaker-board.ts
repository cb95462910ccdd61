import type { ErrorBody } from '@cleanslate/contracts';
import { CircuitBreaker, type Pass } from './circuit-breaker.ts';

/** An executor that was not called for this long says nothing about what comes next. Milliseconds. */
const IN_USE_MS = 60_000;

export type BreakerBoardOptions = {
  readonly slots: number;
  /** Most attempts in hand at once: 0 while nothing can be done, 1 while only a probe can, otherwise all slots. */
  readonly onRoom: (room: number) => void;
};

/**
 * One breaker per executor: what one of them needs may be away while the others work on. Only while the breakers of all
 * executors in use are open does the worker take nothing, and then one attempt at a time until a probe succeeds;
 * otherwise attempts of an open one are handed back at once, untried.
 */
export class BreakerBoard {
  readonly #options: BreakerBoardOptions;
  readonly #breakers = new Map<string, { readonly breaker: CircuitBreaker; calledAt: number }>();
  #room: number;

  constructor(options: BreakerBoardOptions) {
    this.#options = options;
    this.#room = options.slots;
  }

  /** A pass for one call of the executor, or the outage's error if it may not be called now. */
  enter(executor: string): Pass | ErrorBody {
    let entry = this.#breakers.get(executor);
    if (entry === undefined) {
      entry = { breaker: new CircuitBreaker(() => this.#look()), calledAt: 0 };
      this.#breakers.set(executor, entry);
    }
    entry.calledAt = performance.now();
    const entered = entry.breaker.enter();
    // Work of another executor arrived among the probes: there is room for it.
    if (this.#room === 1) this.#look();
    return entered;
  }

  stop(): void {
    for (const { breaker } of this.#breakers.values()) breaker.stop();
  }

  #look(): void {
    const since = performance.now() - IN_USE_MS;
    const states = [...this.#breakers.values()]
      .filter(({ breaker, calledAt }) => breaker.state !== 'closed' || calledAt > since)
      .map(({ breaker }) => breaker.state);
    const away = states.length > 0 && !states.includes('closed');
    const room = !away ? this.#options.slots : states.includes('half-open') ? 1 : 0;
    if (room === this.#room) return;
    this.#room = room;
    this.#options.onRoom(room);
  }
}
