export type LoopOptions = {
  readonly name: string;
  /** Longest pause between two runs. Milliseconds. */
  readonly everyMs: number;
  /** Returns true if there is more to do at once. */
  readonly run: (signal: AbortSignal) => Promise<boolean>;
  readonly onError: (error: unknown, name: string) => void;
};

const MAX_BACKOFF_MS = 5_000;

/** A background task that runs when woken, at least every `everyMs`, never twice at once, and outlives its errors. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #abort = new AbortController();
  #woken = false;
  #wake: () => void = () => undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#loop();
  }

  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /** Ends after the run in progress. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#wake();
    await this.#done;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#abort;
    let failures = 0;
    while (!signal.aborted) {
      this.#woken = false;
      let more = false;
      try {
        more = await this.#options.run(signal);
        failures = 0;
      } catch (error) {
        failures++;
        this.#options.onError(error, this.#options.name);
      }
      if (signal.aborted || (more && failures === 0)) continue;
      const pause = failures > 0 ? Math.min(MAX_BACKOFF_MS, 100 * 2 ** failures) : this.#options.everyMs;
      await this.#pause(pause, failures > 0);
    }
  }

  /** After an error the pause is kept, whoever wakes it: an outage is not hammered. */
  async #pause(ms: number, full: boolean): Promise<void> {
    if (this.#woken && !full) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (full && !this.#abort.signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}
