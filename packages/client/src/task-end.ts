import type { Cursor } from '@cleanslate/contracts';
import { findCursor, isAfter, START } from './cursor.ts';
import type { EventSource } from './event-source.ts';
import { isTerminal, taskStateAfter, toTaskEvent } from './task-event.ts';

const PAGE = 500;

/**
 * True if the events up to the cursor end the task and none follows. Judged by events alone: the task's row may be
 * finished before its last event has its position. (A replay continues after a failure.)
 */
export async function isOverAt(read: EventSource['read'], cursor: Cursor): Promise<boolean> {
  let ended = false;
  for (let from = START; ; ) {
    const page = await read(from, PAGE);
    for (const event of page.events) {
      const at = findCursor(event);
      if (at === undefined || isAfter(at, cursor)) return false;
      const state = taskStateAfter(toTaskEvent(event));
      if (state !== undefined) ended = isTerminal(state);
      from = at;
    }
    if (page.events.length < PAGE) return ended;
  }
}
