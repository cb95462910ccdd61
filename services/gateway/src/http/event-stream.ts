import type { ServerResponse } from 'node:http';
import { type Followed, formatCursor, isTerminal, taskStateAfter, toTaskEvent } from '@cleanslate/client';
import type { Envelope } from '@cleanslate/contracts';

/** Proxies cut connections that say nothing; this also finds dead clients. */
const KEEP_ALIVE_MS = 15_000;
/** A client that reads nothing for this long is cut off; it resumes with `Last-Event-ID`. */
const STALLED_MS = 60_000;

/** One response as a stream of server-sent events. Writing waits while the client's buffer is full. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // The end of the stream ends the connection: a gateway that drains must not wait for it to time out.
      connection: 'close',
      // nginx would hold events back.
      'x-accel-buffering': 'no',
    });
    response.write('retry: 2000\n\n');
    this.#keepAlive = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS);
    response.once('close', () => clearInterval(this.#keepAlive));
  }

  async write(item: Extract<Followed, { event: Envelope }>): Promise<void> {
    const id = item.kind === 'event' ? `id: ${formatCursor(item.cursor)}\n` : '';
    const text = `${id}event: ${item.event.type}\ndata: ${JSON.stringify(item.event)}\n\n`;
    if (this.#response.write(text) || this.#response.destroyed) return;
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => this.#response.destroy(), STALLED_MS);
      const done = () => {
        clearTimeout(stalled);
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.on('drain', done).on('close', done);
    });
  }

  end(): void {
    clearInterval(this.#keepAlive);
    this.#response.end();
  }
}

/** True for the event after which the task does nothing more, unless it is replayed. */
export function endsTask(event: Envelope): boolean {
  return isTerminal(taskStateAfter(toTaskEvent(event)));
}
