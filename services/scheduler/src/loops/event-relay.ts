import type { Publisher } from '@cleanslate/bus';
import { subjects } from '@cleanslate/contracts';
import {
  type Database,
  findEventsAfter,
  lockPublishing,
  markPublished,
  type NumberedEvent,
  numberEvents,
  tryEventLock,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';

const LIMIT = 500;
/** Kept in memory at most; what is beyond is read from the ledger when its turn comes. */
const MAX_KEPT = 5_000;
const MAX_KEPT_CHARACTERS = 16_000_000;
/** The lock's transaction is open while events are published, so the wait for the broker is bounded. */
const PUBLISH_MS = 2_000;

export type EventRelayOptions = { readonly database: Database; readonly publisher: Publisher; readonly epoch: number };

/**
 * Publishes committed events in the order of their positions, one scheduler at a time. What this process committed
 * itself it need not read again; a repeat after a crash carries the same message id and position.
 */
export class EventRelay {
  readonly #options: EventRelayOptions;
  #kept: NumberedEvent[] = [];
  #keptSize = 0;

  constructor(options: EventRelayOptions) {
    this.#options = options;
  }

  /** Events of a commit, numbered in it. */
  keep(events: readonly NumberedEvent[]): void {
    const size = this.#keptSize + sizeOf(events);
    if (this.#kept.length + events.length > MAX_KEPT || size > MAX_KEPT_CHARACTERS) return this.#keep([]);
    this.#kept.push(...events);
    this.#keptSize = size;
  }

  #keep(events: NumberedEvent[]): void {
    this.#kept = events;
    this.#keptSize = sizeOf(events);
  }

  /** Returns true while there may be more. */
  async run(): Promise<boolean> {
    const { database, publisher, epoch } = this.#options;
    const { more, unnumbered } = await withTransaction(
      database,
      { ...LEDGER_SCOPE, relaxedDurability: true },
      async (tx) => {
        const state = await lockPublishing(tx);
        if (state === undefined) {
          // Another scheduler publishes them: kept here they would only grow old.
          this.#keep([]);
          return { more: false, unnumbered: false };
        }
        const { published, position, unnumbered } = state;
        const events = position > published ? await this.#next(tx, published) : [];
        const last = events.at(-1);
        if (last === undefined) return { more: false, unnumbered };
        await publisher.publishRun(
          events.map((event) => toPublication(event, epoch)),
          { giveUpAfterMs: PUBLISH_MS },
        );
        await markPublished(tx, last.position);
        return { more: last.position < position, unnumbered };
      },
    );
    // Numbers are committed before anything is published under them: a crash must never give them out twice.
    const numbered =
      unnumbered &&
      (await withTransaction(database, LEDGER_SCOPE, async (tx) => {
        const locked = await tryEventLock(tx);
        if (locked) await numberEvents(tx, LIMIT);
        return locked;
      }));
    // Where somebody else is numbering, asking again at once would only spin until they are done.
    return more || numbered;
  }

  async #next(tx: Parameters<typeof findEventsAfter>[0], published: number): Promise<readonly NumberedEvent[]> {
    const from = this.#kept.findIndex((event) => event.position > published);
    if (from !== 0) this.#keep(from < 0 ? [] : this.#kept.slice(from));
    if (this.#kept[0]?.position !== published + 1) return await findEventsAfter(tx, published, LIMIT);
    const gap = this.#kept.findIndex((event, i) => event.position !== published + 1 + i);
    return this.#kept.slice(0, Math.min(LIMIT, gap < 0 ? LIMIT : gap));
  }
}

function sizeOf(events: readonly NumberedEvent[]): number {
  return events.reduce((sum, { text }) => sum + text.length, 0);
}

function toPublication({ position, tenantId, taskId, text, traceparent }: NumberedEvent, epoch: number) {
  return {
    stream: 'EVENTS',
    subject: subjects.taskEvent(tenantId, taskId),
    messageId: `${epoch}.${position}`,
    ...(traceparent === null ? {} : { headers: { traceparent } }),
    body: withSequence(text, position),
  };
}

/**
 * The stored JSON is an object that is never empty and ends with its brace, so a key can be added to
 * its bytes, where that brace is.
 */
function withSequence(text: string, position: number): Uint8Array {
  const end = `,"sequence":"${position}"}`;
  const brace = Buffer.byteLength(text) - 1;
  const body = Buffer.allocUnsafe(brace + end.length);
  body.write(text);
  body.write(end, brace);
  return body;
}
