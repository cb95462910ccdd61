import { AppError } from '@cleanslate/contracts';

export type Deadlines = {
  readonly totalMs: number;
  readonly headersMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
};

type Phase = 'headers' | 'firstToken' | 'idle';

const PHASES: Readonly<
  Record<
    Phase,
    {
      readonly code: 'MODEL_TIMEOUT' | 'MODEL_STALLED';
      readonly limit: keyof Deadlines;
      readonly says: string;
      readonly setting: string;
    }
  >
> = {
  headers: { code: 'MODEL_TIMEOUT', limit: 'headersMs', says: 'no answer began', setting: 'MODEL_HEADERS_TIMEOUT_MS' },
  firstToken: {
    code: 'MODEL_TIMEOUT',
    limit: 'firstTokenMs',
    says: 'no first token came',
    setting: 'MODEL_FIRST_TOKEN_TIMEOUT_MS',
  },
  idle: {
    code: 'MODEL_STALLED',
    limit: 'idleMs',
    says: 'the stream made no progress',
    setting: 'MODEL_IDLE_TIMEOUT_MS',
  },
};

/**
 * The deadlines of one request, each separate: they end it through `signal`, as the caller does, and `expired` says
 * which it was.
 */
export class Watch {
  readonly #deadlines: Deadlines;
  readonly #controller = new AbortController();
  readonly #total: NodeJS.Timeout;
  readonly #unlisten: (() => void)[] = [];
  #phase: NodeJS.Timeout | undefined;
  #expired: AppError | undefined;

  constructor(deadlines: Deadlines, ends: readonly AbortSignal[]) {
    this.#deadlines = deadlines;
    for (const signal of ends) {
      const abort = () => this.#controller.abort(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      this.#unlisten.push(() => signal.removeEventListener('abort', abort));
    }
    const { totalMs } = deadlines;
    this.#total = setTimeout(
      () => this.#expire('MODEL_TIMEOUT', `no end within ${totalMs} ms (MODEL_TIMEOUT_MS)`),
      totalMs,
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): AppError | undefined {
    return this.#expired;
  }

  /** Begins a phase, or begins it again: it has its full time. */
  begin(phase: Phase): void {
    clearTimeout(this.#phase);
    const { code, limit, says, setting } = PHASES[phase];
    const ms = this.#deadlines[limit];
    this.#phase = setTimeout(() => this.#expire(code, `${says} within ${ms} ms (${setting})`), ms);
  }

  end(): void {
    clearTimeout(this.#phase);
    clearTimeout(this.#total);
    for (const unlisten of this.#unlisten) unlisten();
  }

  #expire(code: 'MODEL_TIMEOUT' | 'MODEL_STALLED', what: string): void {
    this.#expired ??= new AppError(code, `model: ${what}`);
    this.#controller.abort(this.#expired);
  }
}
