import { type Cursor, type Envelope, isAppError } from '@cleanslate/contracts';
import { findCursor, isAfter, isNext, START } from './cursor.ts';
import type { EventSource, Followed, FollowOptions } from './event-source.ts';

const PAGE = 500;
/** A live event may be a moment ahead of the reader's snapshot: look again soon, then more slowly. */
const CATCH_UP = { firstMs: 20, maxMs: 1_000 };

/**
 * The position of one reader. A live event is handed out at once if its position directly follows the cursor. Any other
 * event ahead of the cursor only shows that there is more: events of other tasks may lie between, or lost ones. The two
 * cannot be told apart, so the ledger is read. That keeps the order and loses nothing, at the price of one indexed
 * query per burst.
 */
export class EventFeed {
  readonly #source: EventSource;
  readonly #options: FollowOptions;
  #cursor: Cursor;
  /** The farthest live event seen: the ledger must show it soon. */
  #ahead: Cursor;
  #readAt = 0;
  #pauseMs = CATCH_UP.firstMs;
  #everRead = false;

  constructor(source: EventSource, options: FollowOptions) {
    this.#source = source;
    this.#options = options;
    this.#cursor = options.after ?? START;
    this.#ahead = this.#cursor;
  }

  msUntilRead(): number {
    return this.#readAt - performance.now();
  }

  /** The live event, if nothing can be missing before it. */
  takeLive(event: Envelope): Followed | undefined {
    const at = findCursor(event);
    if (at !== undefined && !isAfter(at, this.#cursor)) return undefined;
    if (at !== undefined && isNext(at, this.#cursor)) {
      this.#cursor = at;
      return { kind: 'event', event, cursor: at };
    }
    if (at !== undefined && isAfter(at, this.#ahead)) this.#ahead = at;
    this.#readAt = Math.min(this.#readAt, performance.now());
    return undefined;
  }

  /** Everything the ledger has beyond the cursor. */
  async *readLedger(): AsyncGenerator<Followed> {
    try {
      yield* this.#readPages();
      this.#everRead = true;
      yield { kind: 'caught-up', cursor: this.#cursor };
    } catch (error) {
      if (!this.#everRead || !mayPass(error)) throw error;
      this.#options.onTrouble?.(error);
    }
    if (isAfter(this.#ahead, this.#cursor)) {
      this.#readAt = performance.now() + this.#pauseMs;
      this.#pauseMs = Math.min(this.#pauseMs * 2, CATCH_UP.maxMs);
    } else {
      this.#readAt = performance.now() + (this.#options.checkMs ?? 5_000);
      this.#pauseMs = CATCH_UP.firstMs;
    }
  }

  async *#readPages(): AsyncGenerator<Followed> {
    for (;;) {
      const page = await this.#source.read(this.#cursor, PAGE);
      for (const event of page.events) {
        const at = findCursor(event);
        if (at === undefined || !isAfter(at, this.#cursor)) continue;
        this.#cursor = at;
        yield { kind: 'event', event, cursor: at };
      }
      if (page.events.length < PAGE) {
        if (isAfter(page.cursor, this.#cursor)) this.#cursor = page.cursor;
        return;
      }
    }
  }
}

function mayPass(error: unknown): error is Error {
  return isAppError(error) && error.disposition === 'retryable';
}
