import type { Envelope } from '@cleanslate/contracts';
import { Wakeup } from './wakeup.ts';

/**
 * Beyond this the queue drops events and records that it did: a slow reader then reads from the ledger instead of
 * filling memory.
 */
const MAX_QUEUED = 1_000;

export type LiveMessage = { readonly kind: 'event' | 'progress'; readonly envelope: Envelope };

/** What arrived over the core subscription since the reader last looked. Lossy by design; the ledger fills the gaps. */
export class LiveQueue {
  #messages: LiveMessage[] = [];
  #interrupted = false;
  readonly #wakeup = new Wakeup();

  push(message: LiveMessage): void {
    if (this.#messages.length >= MAX_QUEUED) {
      this.#messages = [];
      this.#interrupted = true;
    }
    this.#messages.push(message);
    this.#wakeup.wake();
  }

  /** Something may have been missed: a reconnect, a refused subscription. */
  interrupt(): void {
    this.#interrupted = true;
    this.#wakeup.wake();
  }

  shift(): LiveMessage | undefined {
    return this.#messages.shift();
  }

  takeInterrupted(): boolean {
    const interrupted = this.#interrupted;
    this.#interrupted = false;
    return interrupted;
  }

  /** Resolves on the next message or interruption, after `ms`, or when aborted. */
  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#messages.length > 0 || this.#interrupted || signal?.aborted || ms <= 0) return;
    await this.#wakeup.pause(ms, signal);
  }
}
