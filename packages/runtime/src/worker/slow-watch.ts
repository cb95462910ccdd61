export type Watched = { readonly dueAt: number; readonly onSlow: () => void };

/**
 * Reports what takes longer than `afterMs`. One timer for all, which is left to run out: most of what is watched ends
 * long before, and a timer of its own would cost it more than everything else it does.
 */
export class SlowWatch {
  readonly #afterMs: number;
  /** In the order they began: the first is due first. */
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /** Calls `onSlow` once, unless it is forgotten first. */
  watch(onSlow: () => void): Watched {
    const watched = { dueAt: performance.now() + this.#afterMs, onSlow };
    this.#watched.add(watched);
    this.#timer ??= setTimeout(() => this.#look(), this.#afterMs).unref();
    return watched;
  }

  forget(watched: Watched): void {
    this.#watched.delete(watched);
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const watched of this.#watched) {
      if (watched.dueAt > now) {
        this.#timer = setTimeout(() => this.#look(), Math.ceil(watched.dueAt - now)).unref();
        return;
      }
      this.#watched.delete(watched);
      watched.onSlow();
    }
  }
}
