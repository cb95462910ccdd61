/** A pause that others can end. One caller may pause at a time. */
export class Wakeup {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  /** Resolves when woken, after `ms`, or when aborted. */
  async pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        // A watch pauses thousands of times on one signal: a listener left behind would be kept as long as the watch.
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#wake = done;
      signal?.addEventListener('abort', done, { once: true });
    });
    this.#wake = undefined;
  }
}
