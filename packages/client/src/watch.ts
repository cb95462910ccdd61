import type { Bus, BusSubscription } from '@cleanslate/bus';
import {
  type Cursor,
  Envelope,
  parseJson,
  type StepProgress,
  subjects,
  TaskGet,
  WatchRead,
} from '@cleanslate/contracts';
import type { EventSource } from './event-source.ts';
import { followEvents } from './follow-events.ts';
import type { LiveMessage, LiveQueue } from './live-queue.ts';
import { isOverAt } from './task-end.ts';
import { isTerminal, readProgress, type TaskEvent, taskStateAfter, toTaskEvent } from './task-event.ts';
import { ask, type Wire } from './wire.ts';

export type WatchOptions = {
  /** Default: all tasks of the tenant. */
  readonly taskId?: string | undefined;
  /** Default: from the first event. */
  readonly after?: Cursor | undefined;
  /** With a task: `end` stops once it is completed or failed. Default `end` with a task, else `never`. */
  readonly until?: 'end' | 'never' | undefined;
  /** Also hand out progress, which may be lost. Default true. */
  readonly progress?: boolean | undefined;
  /** Milliseconds, default 5 s. */
  readonly checkMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onTrouble?: ((error: Error) => void) | undefined;
};

export type WatchItem =
  | {
      readonly kind: 'event';
      readonly taskId: string;
      readonly event: TaskEvent;
      readonly envelope: Envelope;
      /** Pass it as `after` to continue after this item. */
      readonly cursor: Cursor;
    }
  | {
      readonly kind: 'progress';
      readonly taskId: string;
      readonly stepId: string;
      readonly attempt: number;
      readonly progress: StepProgress;
    };

/** Lossless: committed events exactly once and in order, from the ledger and live. Throws if the first read fails. */
export async function* watchTasks(wire: Wire, options: WatchOptions = {}): AsyncGenerator<WatchItem> {
  const { taskId } = options;
  const untilEnd = taskId !== undefined && options.until !== 'never';
  const source: EventSource = {
    read: (after, limit) => ask(wire, WatchRead, { ...(taskId === undefined ? {} : { taskId }), after, limit }),
    tail: (queue) => tailSubjects(wire.bus, wire.tenantId, taskId, options.progress ?? true, queue),
  };
  // An unknown id would be watched for ever.
  if (taskId !== undefined) await ask(wire, TaskGet, { taskId });
  let mayBeOver = untilEnd && options.after !== undefined;
  for await (const item of followEvents(source, options)) {
    if (item.kind === 'progress') {
      const progress = readProgress(item.event);
      const { taskid = '', stepid = '', attempt = 0 } = item.event;
      if (progress) yield { kind: 'progress', taskId: taskid, stepId: stepid, attempt, progress };
    } else if (item.kind === 'event') {
      const event = toTaskEvent(item.event);
      yield { kind: 'event', taskId: item.event.taskid ?? '', event, envelope: item.event, cursor: item.cursor };
      mayBeOver = untilEnd && isTerminal(taskStateAfter(event));
      if (mayBeOver && (await isOverAt(source.read, item.cursor))) return;
    } else if (mayBeOver) {
      if (await isOverAt(source.read, item.cursor)) return;
      mayBeOver = false;
    }
  }
}

/** Subscribes to the events (and progress) of one task or all of a tenant. */
export async function tailSubjects(
  bus: Bus,
  tenantId: string,
  taskId: string | undefined,
  progress: boolean,
  queue: LiveQueue,
): Promise<() => void> {
  const listen = (subject: string, kind: LiveMessage['kind']): BusSubscription =>
    bus.subscribe(subject, (message) => {
      const envelope = readEnvelope(message.data);
      if (envelope) queue.push({ kind, envelope });
    });
  const events = taskId === undefined ? `evt.task.${tenantId}.*` : subjects.taskEvent(tenantId, taskId);
  const steps = taskId === undefined ? `prg.${tenantId}.*` : subjects.progress(tenantId, taskId);
  const subscriptions = [listen(events, 'event'), ...(progress ? [listen(steps, 'progress')] : [])];
  const stopListening = bus.onStatus((status) => {
    if (status.type === 'reconnected') queue.interrupt();
  });
  const end = () => {
    stopListening();
    for (const subscription of subscriptions) subscription.unsubscribe();
  };
  try {
    await bus.flush();
    return end;
  } catch (error) {
    end();
    throw error;
  }
}

function readEnvelope(bytes: Uint8Array): Envelope | undefined {
  try {
    return Envelope.parse(parseJson(bytes));
  } catch {
    return undefined;
  }
}
