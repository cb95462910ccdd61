import type { Tx } from '../database.ts';

/** Tasks that nothing will ever move (conservation): must be 0. */
export async function countUnaccounted(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ n: number }>('SELECT count(*)::int4 AS n FROM ledger.unaccounted_tasks');
  return rows[0]?.n ?? 0;
}

/** The state of the ledger: its epoch and the last event position it assigned. */
export async function readHead(tx: Tx): Promise<{ readonly epoch: number; readonly position: number }> {
  const { rows } = await tx.query<{ epoch: number; position: number }>('SELECT epoch, position FROM ledger.meta');
  return rows[0] ?? { epoch: 1, position: 0 };
}

export type LedgerGauges = {
  readonly unpublishedEvents: number;
  readonly openLetters: number;
  /** Those of them that bulk replays leave alone. */
  readonly parkedLetters: number;
};

export async function readGauges(tx: Tx): Promise<LedgerGauges> {
  const { rows } = await tx.query<{
    unpublished: number;
    open_letters: number;
    parked_letters: number;
  }>(
    `SELECT (SELECT count(*) FROM ledger.events WHERE position IS NULL)::int4 + (SELECT m.position - p.position FROM ledger.meta m, ledger.published p)::int4 AS unpublished, (SELECT count(*) FROM ledger.dead_letters WHERE status = 'open')::int4 AS open_letters,
       (SELECT count(*) FROM ledger.dead_letters WHERE status = 'open' AND needs_human)::int4 AS parked_letters`,
  );
  const row = rows[0];
  return {
    unpublishedEvents: row?.unpublished ?? 0,
    openLetters: row?.open_letters ?? 0,
    parkedLetters: row?.parked_letters ?? 0,
  };
}

/**
 * Transactions of several schedulers may commit in another order than they began; by more than
 * this, the clock was set back.
 */
const SET_BACK_MS = 60_000;

/**
 * Writes the schedulers' tick. After a gap (nobody could reach the database, or no scheduler ran) leases and queue
 * times move by the gap plus one lease: an outage is not a worker's fault and spends nothing. The task deadline does
 * not move. If the database's clock was set back, what is due moves with it. Returns the gap in milliseconds, negative
 * for a clock that was set back, 0 if there was none.
 */
export async function tick(tx: Tx, gapMs: number, leaseMs: number): Promise<number> {
  const { rows } = await tx.query<{ gap_ms: number }>(
    `UPDATE ledger.ticks SET at = now() FROM (SELECT at AS before FROM ledger.ticks FOR UPDATE) old RETURNING (extract(epoch FROM now() - old.before) * 1000)::int8 AS gap_ms`,
  );
  const gap = rows[0]?.gap_ms ?? 0;
  if (gap >= gapMs) await moveLeases(tx, gap + leaseMs);
  else if (gap <= -SET_BACK_MS) await followClock(tx, gap, leaseMs);
  else return 0;
  return gap;
}

async function moveLeases(tx: Tx, byMs: number): Promise<void> {
  await tx.query(
    `UPDATE ledger.steps SET due_at = CASE WHEN phase = 'executing' THEN due_at + make_interval(secs => $1::float8 / 1000) ELSE due_at END,
       timeout_at = timeout_at + make_interval(secs => $1::float8 / 1000), queue_expires_at = queue_expires_at + make_interval(secs => $1::float8 / 1000)
     WHERE look_at IS NOT NULL`,
    [byMs],
  );
}

/**
 * A dead worker's lease, a doorbell that got lost and a back-off would else wait for the old time to come again. No
 * lease ends sooner than one that is given now: some may have been since the clock was set.
 */
async function followClock(tx: Tx, gapMs: number, leaseMs: number): Promise<void> {
  await tx.query(
    `UPDATE ledger.steps SET due_at = CASE WHEN phase = 'executing' THEN least(due_at, now() + make_interval(secs => $2::float8 / 1000))
       ELSE due_at + make_interval(secs => $1::float8 / 1000) END
     WHERE look_at IS NOT NULL`,
    [gapMs, leaseMs],
  );
  await tx.query('UPDATE ledger.workers SET seen_at = now() WHERE seen_at > now()');
}

/** Answers to control requests, so that the same request id gets the same answer again. */
export async function findReply(tx: Tx, tenantId: string, requestId: string): Promise<unknown> {
  const { rows } = await tx.query<{ reply: unknown }>(
    'SELECT reply FROM ledger.requests WHERE tenant_id = $1 AND request_id = $2',
    [tenantId, requestId],
  );
  return rows[0]?.reply;
}

export async function saveReply(tx: Tx, tenantId: string, requestId: string, reply: unknown): Promise<void> {
  await tx.query(
    'INSERT INTO ledger.requests (tenant_id, request_id, reply) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [tenantId, requestId, JSON.stringify(reply)],
  );
}
