import { EventFeed } from './event-feed.ts';
import type { EventSource, Followed, FollowOptions } from './event-source.ts';
import { LiveQueue } from './live-queue.ts';

/**
 * Every committed event after the cursor, exactly once and in order, for as long as the caller reads and the signal
 * allows; progress in between as it arrives. The first read of the ledger must succeed; later failures that may pass
 * are retried for ever.
 */
export async function* followEvents(source: EventSource, options: FollowOptions = {}): AsyncGenerator<Followed> {
  const queue = new LiveQueue();
  const endTail = await source.tail(queue);
  const feed = new EventFeed(source, options);
  try {
    while (!options.signal?.aborted) {
      if (queue.takeInterrupted() || feed.msUntilRead() <= 0) yield* feed.readLedger();
      const message = queue.shift();
      if (message === undefined) {
        await queue.wait(feed.msUntilRead(), options.signal);
      } else if (message.kind === 'progress') {
        yield { kind: 'progress', event: message.envelope };
      } else {
        const next = feed.takeLive(message.envelope);
        if (next) yield next;
      }
    }
  } finally {
    endTail();
  }
}
