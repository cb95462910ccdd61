/** Counts what is running at the moment: a drain waits for it. */
export class Running {
  #count = 0;
  #onIdle: () => void = () => undefined;

  get count(): number {
    return this.#count;
  }

  /** Counts `work` until it is over. */
  async track(work: Promise<void>): Promise<void> {
    this.#count++;
    try {
      await work;
    } finally {
      this.#count--;
      if (this.#count === 0) this.#onIdle();
    }
  }

  /** Whether everything ended within `ms`. Only one caller may wait at a time. */
  idleWithin(ms: number): Promise<boolean> {
    if (this.#count === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
