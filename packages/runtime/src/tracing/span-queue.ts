import type { FinishedSpan } from './tracer.ts';

export type SpanQueueOptions = {
  /** Sends a batch; rejects or resolves within a bounded time. */
  readonly send: (spans: readonly FinishedSpan[]) => Promise<void>;
  readonly onDropped: (count: number) => void;
  readonly onExported: (count: number) => void;
  /** Spans in memory; beyond that new ones are dropped. Default 2,048. */
  readonly limit?: number;
  /** Default 512. */
  readonly batch?: number;
  /** Longest wait of a span. Milliseconds, default 2 s. */
  readonly everyMs?: number;
};

/**
 * Spans on their way to the collector. A slow or absent collector costs spans, never memory and never the work that is
 * traced.
 */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #limit: number;
  readonly #batch: number;
  #waiting: FinishedSpan[] = [];
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    this.#limit = options.limit ?? 2_048;
    this.#batch = options.batch ?? 512;
  }

  add(span: FinishedSpan): void {
    if (this.#waiting.length >= this.#limit) return this.#options.onDropped(1);
    this.#waiting.push(span);
    if (this.#waiting.length >= this.#batch) this.#pump();
    else this.#timer ??= setTimeout(() => this.#pump(), this.#options.everyMs ?? 2_000).unref();
  }

  /** Sends what waits; gives up after `timeoutMs`. Never throws. */
  async close(timeoutMs = 2_000): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#drain(), late]);
    clearTimeout(timer);
    this.#options.onDropped(this.#waiting.length);
    this.#waiting = [];
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending !== undefined) {
      this.#pump();
      await this.#sending;
    }
  }

  #pump(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    const spans = this.#waiting.splice(0, this.#batch);
    this.#sending = this.#send(spans).finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length >= this.#batch) this.#pump();
      else if (this.#waiting.length > 0)
        this.#timer ??= setTimeout(() => this.#pump(), this.#options.everyMs ?? 2_000).unref();
    });
  }

  /** A batch the collector did not accept is gone: traces are for looking, not for accounting. */
  async #send(spans: readonly FinishedSpan[]): Promise<void> {
    try {
      await this.#options.send(spans);
      this.#options.onExported(spans.length);
    } catch {
      this.#options.onDropped(spans.length);
    }
  }
}
