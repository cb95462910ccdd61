import type { Msg, Subscription } from '@nats-io/nats-core';
import { backoffMs } from './backoff.ts';
import type { Bus } from './bus.ts';

export type SubscribeOptions = {
  readonly queue?: string;
  /** Called with what a message handler threw. Default: dropped. */
  readonly onError?: (error: unknown) => void;
};

export type BusSubscription = {
  readonly subject: string;
  /** Stops at once: messages on their way are dropped. */
  unsubscribe(): void;
  /** Stops, but hands out what the server had already sent. Never throws. */
  drain(): Promise<void>;
};

const RETRY = { firstMs: 1_000, maxMs: 10_000 };

/**
 * The client closes a subscription that the server refuses and never asks again. This one asks again, since permissions
 * may be reloaded, and meanwhile reports to `problems()`. A handler's exception must not reach the client: it would end
 * its read loop.
 */
export class ResilientSubscription implements BusSubscription {
  readonly subject: string;
  readonly #bus: Bus;
  readonly #onMessage: (message: Msg) => void;
  readonly #options: SubscribeOptions;
  #current: Subscription | undefined;
  #retry: NodeJS.Timeout | undefined;
  #refusals = 0;
  #ended = false;

  constructor(bus: Bus, subject: string, onMessage: (message: Msg) => void, options: SubscribeOptions) {
    this.#bus = bus;
    this.subject = subject;
    this.#onMessage = onMessage;
    this.#options = options;
    this.#open();
  }

  unsubscribe(): void {
    this.#end();
    this.#current?.unsubscribe();
  }

  async drain(): Promise<void> {
    this.#end();
    if (this.#current === undefined || this.#current.isClosed() || !this.#bus.connected) return this.unsubscribe();
    await this.#current.drain().catch(() => undefined);
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#retry);
    this.#bus.setProblem(`sub:${this.subject}`, undefined);
  }

  #open(): void {
    if (this.#ended || this.#bus.raw.isClosed()) return;
    const { queue } = this.#options;
    this.#current = this.#bus.raw.subscribe(this.subject, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, message) => {
        if (error) this.#refused(error);
        else this.#handle(message);
      },
    });
    // The refusal arrives before the answer to this ping.
    this.#bus.raw.flush().then(
      () => this.#current?.isClosed() === false && this.#accepted(),
      () => undefined,
    );
  }

  #handle(message: Msg): void {
    try {
      this.#onMessage(message);
    } catch (error) {
      this.#tell(error);
    }
  }

  #tell(error: unknown): void {
    try {
      this.#options.onError?.(error);
    } catch {
      // An observer's fault; the client must not see it either.
    }
  }

  #accepted(): void {
    this.#refusals = 0;
    this.#bus.setProblem(`sub:${this.subject}`, undefined);
  }

  #refused(error: Error): void {
    if (this.#ended) return;
    this.#refusals++;
    this.#bus.setProblem(`sub:${this.subject}`, `may not subscribe to ${this.subject}: ${error.message}`);
    this.#retry = setTimeout(() => this.#open(), backoffMs(this.#refusals, RETRY));
    this.#retry.unref();
  }
}
