import type { Cursor, Envelope } from '@cleanslate/contracts';
import type { LiveQueue } from './live-queue.ts';

/** Where events come from: the ledger (complete, in order) and the bus (at once, lossy). */
export type EventSource = {
  /**
   * Committed events after the cursor, oldest first, and the cursor up to which the list is complete. After a full
   * page, ask again.
   */
  read(after: Cursor, limit: number): Promise<{ readonly events: readonly Envelope[]; readonly cursor: Cursor }>;
  /**
   * Feeds the queue with live messages until the returned function is called; resolves once the server knows the
   * subscription.
   */
  tail(queue: LiveQueue): Promise<() => void>;
};

export type FollowOptions = {
  /** Default: from the first event. */
  readonly after?: Cursor | undefined;
  /**
   * The ledger is asked at least this often, since a cluster can lose a core message without a disconnect. Default 5 s.
   */
  readonly checkMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for reads that failed and will be repeated. */
  readonly onTrouble?: ((error: Error) => void) | undefined;
};

export type Followed =
  | { readonly kind: 'event'; readonly event: Envelope; readonly cursor: Cursor }
  | { readonly kind: 'progress'; readonly event: Envelope }
  /** The ledger was asked and holds nothing beyond the cursor. */
  | { readonly kind: 'caught-up'; readonly cursor: Cursor };
