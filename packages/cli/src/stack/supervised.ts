/** Something that can be kept running: a service or a server. */
export type Running = { readonly exited: Promise<unknown>; stop(): Promise<unknown> };

export type SupervisedOptions<Part extends Running> = {
  readonly name: string;
  /** Starts it, or restarts it in its old place; resolves once it is ready. */
  readonly start: (signal: AbortSignal) => Promise<Part>;
  readonly say: (line: string) => void;
  /** The process is another one now, or there is none. */
  readonly onChange: () => void;
  readonly restartMs?: { readonly first: number; readonly max: number };
  /** After running this long it counts as sound again, and its next restart is quick. Default one minute. */
  readonly soundMs?: number;
};

const RESTART_MS = { first: 500, max: 15_000 };
const SOUND_MS = 60_000;

/** One process, restarted when it ends by itself. */
export class Supervised<Part extends Running> {
  readonly name: string;
  readonly #options: SupervisedOptions<Part>;
  readonly #abort = new AbortController();
  #part: Part | undefined;
  #readySince = 0;
  #restarts = 0;
  #timer: NodeJS.Timeout | undefined;
  #starting: Promise<unknown> | undefined;

  constructor(options: SupervisedOptions<Part>) {
    this.#options = options;
    this.name = options.name;
  }

  /** Undefined while none runs. */
  get part(): Part | undefined {
    return this.#part;
  }

  /** Resolves once it is ready. Throws with its last lines. */
  async start(signal?: AbortSignal): Promise<void> {
    const stop = this.#abort.signal;
    const starting = this.#launch(signal ? AbortSignal.any([signal, stop]) : stop);
    this.#starting = starting.catch(() => undefined);
    await starting;
  }

  async #launch(signal: AbortSignal): Promise<void> {
    this.watch(await this.#options.start(signal));
  }

  /** Keeps what runs already. */
  watch(part: Part): void {
    this.#part = part;
    this.#readySince = performance.now();
    void part.exited.then((exit) => this.#ended(describeExit(exit)));
  }

  /** Also waits for a start in progress, so that nothing comes up afterwards. */
  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await this.#starting;
    await this.#part?.stop();
  }

  #ended(how: string): void {
    const { say, onChange, restartMs = RESTART_MS, soundMs = SOUND_MS } = this.#options;
    if (this.#part !== undefined && performance.now() - this.#readySince >= soundMs) this.#restarts = 0;
    this.#part = undefined;
    if (this.#abort.signal.aborted) return;
    const pauseMs = Math.min(restartMs.max, restartMs.first * 2 ** this.#restarts++);
    say(`${this.name} ended (${how}); it starts again in ${pauseMs} ms`);
    onChange();
    this.#timer = setTimeout(() => this.#restart(), pauseMs);
  }

  #restart(): void {
    this.start().then(
      () => {
        if (this.#abort.signal.aborted) return;
        this.#options.say(`${this.name} is ready again`);
        this.#options.onChange();
      },
      (error: unknown) => this.#ended(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)),
    );
  }
}

function describeExit(exit: unknown): string {
  if (typeof exit !== 'object' || exit === null) return 'by itself';
  if ('signal' in exit && typeof exit.signal === 'string') return exit.signal;
  return `exit code ${'code' in exit ? String(exit.code) : 'unknown'}`;
}
