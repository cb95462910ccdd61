import { AppError, inboxPrefix, type Principal } from '@cleanslate/contracts';
import { createInbox, type Msg, type NatsConnection } from '@nats-io/nats-core';
import { encodeHeaders } from './headers.ts';
import { type BusSubscription, ResilientSubscription, type SubscribeOptions } from './subscription.ts';

/** What happened to the connection, for logs, metrics and readiness. */
export type BusStatus =
  | {
      readonly type: 'disconnected' | 'reconnected' | 'reconnecting' | 'stale' | 'draining-server';
      readonly server: string;
    }
  | { readonly type: 'permission-violation'; readonly operation: 'publish' | 'subscription'; readonly subject: string }
  | { readonly type: 'error'; readonly message: string };

/**
 * One connection to the broker. It reconnects for ever; whatever waits for an answer across a disconnect (publisher,
 * pull loop, subscriptions) repairs itself on `reconnected`. `closed` settles only when the connection is over for
 * good.
 */
export class Bus implements AsyncDisposable {
  readonly principal: Principal;
  /**
   * Settles when the connection is closed for good; with an error if nobody asked for it: the process should exit
   * non-zero.
   */
  readonly closed: Promise<Error | undefined>;
  readonly #nc: NatsConnection;
  readonly #listeners = new Set<(status: BusStatus) => void>();
  readonly #problems = new Map<string, string>();
  #connected = true;
  #closing = false;
  #failure: Error | undefined;
  #soon: (() => void)[] = [];

  constructor(nc: NatsConnection, principal: Principal) {
    this.#nc = nc;
    this.principal = principal;
    this.closed = nc.closed().then((error) => {
      this.#connected = false;
      if (this.#failure !== undefined) return this.#failure;
      if (error instanceof Error) return error;
      return this.#closing ? undefined : new Error('the connection to the broker was closed');
    });
  }

  get connected(): boolean {
    return this.#connected && !this.#nc.isClosed();
  }

  /** The client library's own connection: for administration and tests. */
  get raw(): NatsConnection {
    return this.#nc;
  }

  /** Largest body with headers that the server accepts; 1 MiB until the server has said. */
  get maxPayload(): number {
    return this.#nc.info?.max_payload ?? 1024 * 1024;
  }

  /** Why this connection is not ready, one sentence each; empty when it is. */
  problems(): string[] {
    const problems = [...this.#problems.values()];
    return this.connected ? problems : ['not connected to the broker', ...problems];
  }

  /** Sets or clears a problem under a key, so that readiness can name it. */
  setProblem(key: string, problem: string | undefined): void {
    if (problem === undefined) this.#problems.delete(key);
    else this.#problems.set(key, problem);
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called by `connectBus` for every status of the client library. */
  notify(status: BusStatus): void {
    if (status.type === 'disconnected') this.#connected = false;
    if (status.type === 'reconnected') this.#connected = true;
    for (const listener of this.#listeners) {
      try {
        listener(status);
      } catch {
        // A fault of one listener must not stop the others from repairing themselves.
      }
    }
  }

  /** A fresh inbox under this principal's own prefix, the only one it may subscribe to. */
  newInbox(): string {
    return createInbox(inboxPrefix(this.principal));
  }

  /**
   * Core publish, fire and forget: nobody learns whether it arrived. Throws `PAYLOAD_TOO_LARGE`, `BROKER_UNAVAILABLE`.
   */
  publish(subject: string, body: Uint8Array, headers?: Readonly<Record<string, string>>): void {
    const encoded = headers === undefined ? undefined : encodeHeaders(headers);
    this.assertFits(body.length + (encoded?.bytes ?? 0));
    try {
      this.#nc.publish(subject, body, encoded === undefined ? {} : { headers: encoded.headers });
    } catch (error) {
      throw new AppError('BROKER_UNAVAILABLE', `can't publish to ${subject}: ${String(error)}`, { cause: error });
    }
  }

  /** Subscribes for the life of the connection; a refused subscription is tried again and named in `problems()`. */
  subscribe(subject: string, onMessage: (message: Msg) => void, options: SubscribeOptions = {}): BusSubscription {
    return new ResilientSubscription(this, subject, onMessage, options);
  }

  /**
   * Runs `send` at the end of this turn of the event loop, together with all other such work: what a turn sends leaves
   * in one write, and a write costs more than building what is written. `flush` and `close` run it at once.
   */
  soon(send: () => void): void {
    this.#soon.push(send);
    if (this.#soon.length === 1) setImmediate(() => this.#sendSoon());
  }

  #sendSoon(): void {
    const sends = this.#soon;
    this.#soon = [];
    for (const send of sends) {
      try {
        send();
      } catch {
        // Each sender has its own way to find out that nothing was sent.
      }
    }
  }

  assertFits(bytes: number): void {
    if (bytes <= this.maxPayload) return;
    throw new AppError('PAYLOAD_TOO_LARGE', `message of ${bytes} bytes: the broker takes at most ${this.maxPayload}`);
  }

  /**
   * Resolves once the server has seen everything sent before. Throws `BROKER_UNAVAILABLE`
   * after `timeoutMs` (default 5 s).
   */
  async flush(timeoutMs = 5_000): Promise<void> {
    this.#sendSoon();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new AppError('BROKER_UNAVAILABLE', 'flush was not answered')), timeoutMs);
    });
    try {
      await Promise.race([this.#nc.flush(), late]);
    } catch (error) {
      throw new AppError('BROKER_UNAVAILABLE', `can't flush: ${String(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Flushes what was sent (at most `timeoutMs`), then closes. Never throws. */
  async close(timeoutMs = 2_000): Promise<void> {
    this.#closing = true;
    this.#sendSoon();
    if (this.connected) await this.flush(timeoutMs).catch(() => undefined);
    await this.#nc.close();
  }

  /**
   * Ends a connection that is of no use any more: `closed` settles with the error, and the process exits. Never throws.
   */
  async fail(error: Error): Promise<void> {
    this.#failure ??= error;
    await this.#nc.close().catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
