import { AppError, type Cursor, Envelope } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';

export type EventQuery = {
  readonly taskId?: string | undefined;
  /** Default: before the first event. */
  readonly after?: Cursor | undefined;
  readonly limit?: number | undefined;
};

type EventRow = { readonly position: number; readonly envelope: Record<string, unknown> };

/**
 * Committed events of the transaction's tenant after the cursor, oldest first. The returned cursor is the last event's
 * if the page is full, otherwise the ledger's own: up to there nothing is missing, whatever other tenants did in
 * between. Throws `INVALID_INPUT` for a cursor that this ledger has not reached.
 */
export async function readEvents(tx: Tx, query: EventQuery): Promise<{ events: Envelope[]; cursor: Cursor }> {
  const limit = query.limit ?? 200;
  // Before the events, so that events numbered in between count as unseen.
  const meta = await tx.query<{ epoch: number; position: number }>('SELECT epoch, position FROM ledger.meta');
  const head: Cursor = meta.rows[0] ?? { epoch: 1, position: 0 };
  const after = query.after ?? { epoch: 1, position: 0 };
  if (after.epoch > head.epoch)
    throw new AppError(
      'INVALID_INPUT',
      `after: epoch ${after.epoch} is not this ledger's (${head.epoch}): start again without a cursor`,
    );
  // No event has that position yet: a reader would wait for the ledger to get there, and miss everything before it.
  if (after.epoch === head.epoch && after.position > head.position)
    throw new AppError(
      'INVALID_INPUT',
      `after: ${after.epoch}-${after.position} is beyond this ledger's last event (${head.epoch}-${head.position}): send back a cursor you were given, or start again without one`,
    );
  // Positions may start again lower in a restored ledger; what was written since then carries its epoch.
  const sinceRestore = after.epoch < head.epoch;
  const { rows } = await tx.query<EventRow>(
    `SELECT position, envelope FROM ledger.events
     WHERE tenant_id = current_setting('cleanslate.tenant') AND ($1::text IS NULL OR task_id = $1)
       AND ${sinceRestore ? `position IS NOT NULL AND (position > $2 OR (envelope->>'epoch')::bigint > $4)` : 'position > $2'}
     ORDER BY position LIMIT $3`,
    [query.taskId ?? null, after.position, limit, ...(sinceRestore ? [after.epoch] : [])],
  );
  const events = rows.map((row) => toEvent(row, head.epoch));
  const last = rows.at(-1);
  const seen: Cursor = last ? { epoch: events.at(-1)?.epoch ?? head.epoch, position: last.position } : after;
  if (rows.length === limit) return { events, cursor: seen };
  return { events, cursor: { epoch: head.epoch, position: Math.max(head.position, last?.position ?? 0) } };
}

function toEvent(row: EventRow, epoch: number): Envelope {
  return Envelope.parse({ epoch, ...row.envelope, sequence: String(row.position) });
}
