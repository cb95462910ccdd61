import type { Tx } from '../database.ts';
import { toLines, toTextArray } from './arrays.ts';
import { BY_TASK_ID } from './submits.ts';

export type EventText = {
  readonly tenantId: string;
  readonly taskId: string;
  /** The CloudEvents JSON without its `sequence`. */
  readonly text: string;
  /** Of the task. */
  readonly traceparent: string | null;
};

export type NumberedEvent = EventText & { readonly position: number };

/** Held by whoever gives out positions, to the end of the transaction. */
export async function tryEventLock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtext('ledger.events')) AS locked`,
  );
  return rows[0]?.locked === true;
}

/**
 * Inserts events in the transaction that they tell of, and numbers them where nobody else is numbering: positions are
 * then given out in the order of commits, since the lock is held until this one. Without a number (undefined) they wait
 * for `numberEvents`; so do those behind them, or a task's events could change places.
 */
export async function insertEvents(
  tx: Tx,
  events: readonly EventText[],
): Promise<readonly NumberedEvent[] | undefined> {
  if (events.length === 0) return [];
  const { rows } = await tx.query<{ base: number }>(
    `WITH leader AS MATERIALIZED (
       UPDATE ledger.meta SET position = position + $4::int8
       WHERE NOT EXISTS (SELECT FROM ledger.events WHERE position IS NULL) AND pg_try_advisory_xact_lock(hashtext('ledger.events')) RETURNING position - $4::int8 AS base
     ), inserted AS (
       INSERT INTO ledger.events (position, tenant_id, task_id, envelope)
       SELECT leader.base + e.n, e.tenant_id, e.task_id, e.envelope
       FROM (
         SELECT unnest($1::text[]) AS tenant_id, unnest($2::text[]) AS task_id, unnest(string_to_array($3, E'\n')::json[]) AS envelope, generate_series(1, $4::int8) AS n
       ) e LEFT JOIN leader ON true
     )
     SELECT base FROM leader`,
    [
      toTextArray(events.map((event) => event.tenantId)),
      toTextArray(events.map((event) => event.taskId)),
      toLines(events.map((event) => event.text)),
      events.length,
    ],
  );
  const base = rows[0]?.base;
  if (base === undefined) return undefined;
  return events.map(({ tenantId, taskId, text, traceparent }, i) => {
    return { position: base + i + 1, tenantId, taskId, text, traceparent };
  });
}

/**
 * Numbers committed events gaplessly, in the order in which they are first read here (not that of their ids:
 * a lower id may commit later).
 */
export async function numberEvents(tx: Tx, limit: number): Promise<void> {
  await tx.query(
    `WITH fresh AS (
       SELECT event_id, row_number() OVER (ORDER BY event_id) AS n FROM (SELECT event_id FROM ledger.events WHERE position IS NULL ORDER BY event_id LIMIT $1) e
     ), counter AS (
       UPDATE ledger.meta SET position = position + (SELECT count(*) FROM fresh) WHERE EXISTS (SELECT FROM fresh) RETURNING position
     )
     UPDATE ledger.events e SET position = counter.position - (SELECT count(*) FROM fresh) + fresh.n FROM fresh, counter WHERE e.event_id = fresh.event_id AND e.position IS NULL`,
    [limit],
  );
}

type PublishingRow = {
  readonly locked: boolean;
  readonly published: number;
  /** By a scheduler of the release before, which may still be at it while schedulers are replaced. */
  readonly before: number;
  readonly position: number;
  readonly unnumbered: boolean;
};

/**
 * Where publishing stands; undefined where another scheduler publishes just now. Keeps the others out
 * to the end of the transaction.
 */
export async function lockPublishing(
  tx: Tx,
): Promise<Pick<PublishingRow, 'published' | 'position' | 'unnumbered'> | undefined> {
  const { rows } = await tx.query<PublishingRow>(
    `SELECT pg_try_advisory_xact_lock(hashtext('ledger.published')) AS locked, published.position AS published, meta.published_position AS before, meta.position,
       EXISTS (SELECT FROM ledger.events WHERE position IS NULL) AS unnumbered FROM ledger.published, ledger.meta`,
  );
  const [row] = rows;
  if (row?.locked !== true) return undefined;
  const { published, before, position, unnumbered } = row;
  if (before <= published) return { published, position, unnumbered };
  await markPublished(tx, before);
  return { published: before, position, unnumbered };
}

/** Numbered events behind a position, in order. */
export async function findEventsAfter(tx: Tx, position: number, limit: number): Promise<readonly NumberedEvent[]> {
  const { rows } = await tx.query<NumberedEvent>(
    `SELECT k.position, k.tenant_id AS "tenantId", k.task_id AS "taskId", k.envelope::text AS text, (SELECT t.traceparent FROM ledger.tasks t WHERE ${BY_TASK_ID}) AS traceparent
     FROM ledger.events k WHERE k.position > $1 ORDER BY k.position LIMIT $2`,
    [position, limit],
  );
  return rows;
}

/** Published in order, so one number says it. */
export async function markPublished(tx: Tx, upTo: number): Promise<void> {
  await tx.query('UPDATE ledger.published SET position = greatest(position, $1)', [upTo]);
}
