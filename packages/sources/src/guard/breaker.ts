export type BreakerOptions = {
  /** Failures in a row that open it. Default 3. */
  readonly opensAfter?: number;
  /** Milliseconds that it stays open at first; doubles with each probe that fails. Default 2 s. */
  readonly firstMs?: number;
  /** Default 60 s. */
  readonly maxMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
};

/** How one call went: `neither` if it says nothing about the source (the caller gave up, the parameters were wrong). */
export type CallOutcome = 'answered' | 'failed' | 'neither';
export type Pass = { readonly end: (outcome: CallOutcome) => void };
/** Milliseconds after which to come again. */
export type Closed = { readonly retryAfterMs: number };

/**
 * A source that failed several times in a row is left alone for a while; then one caller is the probe, and the others
 * wait for its outcome. The worker's breaker guards an executor; this one guards one source, so that the others go on
 * answering.
 */
export class SourceBreaker {
  readonly #options: Required<BreakerOptions>;
  #failures = 0;
  #opened = 0;
  #openUntil: number | undefined;
  #probing = false;

  constructor(options: BreakerOptions) {
    this.#options = { opensAfter: 3, firstMs: 2_000, maxMs: 60_000, ...options };
  }

  /** Open or half-open. */
  get isOpen(): boolean {
    return this.#openUntil !== undefined;
  }

  enter(): Pass | Closed {
    const { now, firstMs } = this.#options;
    let probe = false;
    if (this.#openUntil !== undefined) {
      const waitMs = this.#openUntil - now();
      if (waitMs > 0 || this.#probing) return { retryAfterMs: Math.ceil(Math.max(waitMs, firstMs / 2)) };
      probe = true;
      this.#probing = true;
    }
    let ended = false;
    const end = (outcome: CallOutcome) => {
      if (ended) return;
      ended = true;
      this.#learn(outcome, probe);
    };
    return { end };
  }

  #learn(outcome: CallOutcome, probe: boolean): void {
    if (probe) this.#probing = false;
    if (outcome === 'neither') return;
    if (outcome === 'answered') {
      this.#failures = 0;
      this.#opened = 0;
      this.#openUntil = undefined;
      return;
    }
    this.#failures += 1;
    // What was running when it opened says nothing new.
    if (probe || (this.#openUntil === undefined && this.#failures >= this.#options.opensAfter)) this.#open();
  }

  #open(): void {
    const { firstMs, maxMs, now } = this.#options;
    this.#openUntil = now() + Math.min(maxMs, firstMs * 2 ** this.#opened);
    this.#opened += 1;
  }
}
