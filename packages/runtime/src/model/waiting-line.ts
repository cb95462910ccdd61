import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Those of one process who wait for room under the same limits: only the first asks, the others queue up. So a process
 * asks at one pace however many of its steps wait, and they take turns in order.
 */
export class WaitingLine {
  readonly #waiting = new Set<{ readonly go: () => void }>();
  #taken = false;
  #wake = new AbortController();
  #wakes = 0;

  get isEmpty(): boolean {
    return !this.#taken;
  }

  /**
   * Resolves with true at the head of the line, which the caller must then leave; with false if that takes longer.
   * Rejects with the signal's reason.
   */
  async enter(withinMs: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#taken) {
      this.#taken = true;
      return true;
    }
    return await new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(entry);
        settle();
      };
      const stop = () => done(() => reject(signal.reason));
      const entry = { go: () => done(() => resolve(true)) };
      const timer = setTimeout(() => done(() => resolve(false)), withinMs);
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(entry);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken = false;
    else next.go();
  }

  /** Pass it to `pause`: a wake-up since then ends the pause at once. */
  get wakes(): number {
    return this.#wakes;
  }

  /** Room may have become free in this process. */
  wake(): void {
    this.#wakes++;
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  /** Waits at the head until somebody wakes it, or has since `since`. Rejects with the signal's reason. */
  async pause(ms: number, since: number, signal: AbortSignal): Promise<void> {
    if (since !== this.#wakes) return;
    const ends = AbortSignal.any([signal, this.#wake.signal]);
    await sleep(ms, undefined, { signal: ends }).catch(() => undefined);
    signal.throwIfAborted();
  }
}
