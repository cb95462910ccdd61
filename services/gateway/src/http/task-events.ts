import type { ServerResponse } from 'node:http';
import type { Bus } from '@cleanslate/bus';
import { type EventSource, followEvents, isOverAt, parseCursor, tailSubjects } from '@cleanslate/client';
import { AppError, type Cursor } from '@cleanslate/contracts';
import { findTaskView, readEvents } from '@cleanslate/store';
import type { Ledger } from '../ledger.ts';
import { EventStream, endsTask } from './event-stream.ts';

export type EventsRequest = {
  readonly tenantId: string;
  /** Undefined: all tasks of the tenant, without an end. */
  readonly taskId: string | undefined;
  readonly lastEventId: string | undefined;
  /** Fires when the client is gone or no longer allowed, or the gateway drains. */
  readonly signal: AbortSignal;
};

/**
 * From the first event, or after `Last-Event-ID`, everything committed, once and in order, then live, until the task
 * ends. A client that comes back to a finished task with nothing left to see gets 204, which makes EventSource stop.
 */
export async function streamEvents(
  bus: Bus,
  ledger: Ledger,
  request: EventsRequest,
  response: ServerResponse,
): Promise<void> {
  const { tenantId, taskId, signal } = request;
  const after = request.lastEventId === undefined ? undefined : parseCursor(request.lastEventId, 'Last-Event-ID');
  const read = (cursor: Cursor, limit: number) =>
    ledger.read(tenantId, (tx) => readEvents(tx, { taskId, after: cursor, limit }));
  const isOver = async (cursor: Cursor) => taskId !== undefined && (await isOverAt(read, cursor));
  if (taskId !== undefined && (await ledger.read(tenantId, (tx) => findTaskView(tx, taskId))) === undefined)
    throw new AppError('NOT_FOUND', `no task ${taskId} of this tenant`);
  // A cursor that isn't this ledger's is refused while a status can still be sent.
  if (after) await read(after, 1);
  if (after && (await isOver(after))) {
    response.writeHead(204).end();
    return;
  }
  const source: EventSource = { read, tail: (queue) => tailSubjects(bus, tenantId, taskId, true, queue) };
  const stream = new EventStream(response);
  try {
    for await (const item of followEvents(source, { after, signal })) {
      // Also in the middle of a long history.
      if (signal.aborted) break;
      if (item.kind === 'caught-up') continue;
      await stream.write(item);
      if (item.kind !== 'event' || !endsTask(item.event)) continue;
      if (await isOver(item.cursor)) break;
    }
  } finally {
    stream.end();
  }
}
