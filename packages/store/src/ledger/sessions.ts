import {
  AppError,
  type Fence,
  MAX_SESSION_BYTES,
  MAX_SESSION_ITEMS,
  type RequestOf,
  type SessionItem,
  type SessionRead,
  type SessionSpeaker,
  type SessionWrite,
  type ValueOf,
} from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { PHASE } from './one-plan.ts';

type Write = RequestOf<typeof SessionWrite>;

type SessionRow = {
  last_n: number;
  forgotten: number;
  extracted_through: number;
  expires_at: Date;
  expired: boolean;
  /** The session began again after the task had been accepted. */
  is_newer: boolean;
};
export type SessionItemRow = { n: number; said_by: SessionSpeaker; text: string; task_id: string; at: Date };

/** Row-level security binds it to one tenant: the transaction's. */
const OF_SESSION = `tenant_id = (SELECT cleanslate.reading_tenant()) AND session_id = $1`;

/**
 * What everybody may build on: users' words, and those of completed tasks. The answers of tasks that failed or are not
 * judged yet stay with their task.
 */
const IS_COMPLETED = `EXISTS (SELECT FROM ledger.tasks t WHERE t.tenant_id = i.tenant_id AND t.task_id = i.task_id AND t.state = 'completed')`;
export const IS_SHOWN = `(i.said_by = 'user' OR ${IS_COMPLETED})`;

/** A step that holds its claim. Its items have keys that begin with `prefix`, which all rounds of one step share. */
type Speaker = { readonly acceptedAt: Date; readonly prefix: string };

/**
 * Throws `STALE_ATTEMPT` if the claim does not hold: a worker reaches the sessions of a tenant only by working for it.
 * `lock` holds the claim until the commit.
 */
async function requireClaim(tx: Tx, fence: Fence, lock: 'lock' | 'look'): Promise<Speaker> {
  const { tenantId, taskId, stepId, attempt, claimId, epoch } = fence;
  const { rows } = await tx.query<{ created_at: Date; spoken_as: string }>(
    // Rounds repeat only the plan's own steps. Others of the same key (grown, for evidence, to undo one) exist beside
    // it, and have items of their own.
    `SELECT t.created_at, CASE WHEN s.purpose = 'work' THEN s.plan_key ELSE s.step_id END AS spoken_as
     FROM ledger.tasks t JOIN ledger.steps s USING (task_seq)
     WHERE t.tenant_id = $1 AND t.task_id = $2 AND s.step_id = $3 AND s.attempt = $4 AND s.claim_id = $5 AND ${PHASE} = 'executing'
       AND (SELECT epoch FROM ledger.meta) = $6 ${lock === 'lock' ? 'FOR SHARE OF s' : ''}`,
    [tenantId, taskId, stepId, attempt, claimId, epoch],
  );
  const [step] = rows;
  if (step === undefined) throw new AppError('STALE_ATTEMPT', 'the claim on this attempt no longer holds');
  return { acceptedAt: step.created_at, prefix: `${taskId}/${step.spoken_as}/` };
}

/** A session as a running step may see it. In a transaction of the fence's tenant. Throws `STALE_ATTEMPT`. */
export async function readSession(tx: Tx, sessionId: string, fence: Fence): Promise<ValueOf<typeof SessionRead>> {
  const { acceptedAt, prefix } = await requireClaim(tx, fence, 'look');
  const session = await findSession(tx, sessionId, fence.taskId, acceptedAt, '');
  if (session === undefined || session.expired || session.is_newer) return { sessionId, ...EMPTY };
  // What this step said in an earlier round was sent back: nothing to build on.
  const { rows } = await tx.query<SessionItemRow>(
    `SELECT n, said_by, text, task_id, at FROM ledger.session_items i
     WHERE ${OF_SESSION} AND (i.task_id = $2 OR ${IS_SHOWN}) AND NOT starts_with(i.item_key, $3) ORDER BY n`,
    [sessionId, fence.taskId, prefix],
  );
  return {
    sessionId,
    items: rows.map(toSessionItem),
    forgotten: session.forgotten,
    extractedThrough: session.extracted_through,
    expiresAt: session.expires_at.toISOString(),
  };
}

const EMPTY = { items: [], forgotten: 0, extractedThrough: 0, expiresAt: null };

export function toSessionItem({ n, said_by, text, task_id, at }: SessionItemRow): SessionItem {
  return { n, from: said_by, text, taskId: task_id, at: at.toISOString() };
}

async function findSession(
  tx: Tx,
  sessionId: string,
  taskId: string,
  acceptedAt: Date,
  lock: '' | 'FOR UPDATE',
): Promise<SessionRow | undefined> {
  const { rows } = await tx.query<SessionRow>(
    // The clock of the statement: whoever waited for the lock must see what happened meanwhile as past.
    `SELECT last_n, forgotten, extracted_through, expires_at, expires_at <= clock_timestamp() AS expired,
       $3 < CASE WHEN expires_at <= clock_timestamp() THEN expires_at ELSE reset_at END AND reset_by IS DISTINCT FROM $2 AS is_newer
     FROM ledger.sessions WHERE ${OF_SESSION} ${lock}`,
    [sessionId, taskId, acceptedAt],
  );
  return rows[0];
}

/**
 * Stores what a step said, replacing what an earlier attempt or round of it said, and resets the session first if asked
 * to. Writers of one session take turns, so that none loses another's items. In a transaction of the fence's tenant.
 * Throws `STALE_ATTEMPT`.
 */
export async function writeSession(tx: Tx, write: Write): Promise<ValueOf<typeof SessionWrite>> {
  const { sessionId, fence, ttlMs } = write;
  const { acceptedAt, prefix } = await requireClaim(tx, fence, 'lock');
  if (write.items.length === 0 && write.extracted === null && !write.reset) {
    await takeBack(tx, sessionId, prefix);
    return { sessionId, outcome: 'kept' };
  }
  await tx.query(
    `INSERT INTO ledger.sessions (tenant_id, session_id, expires_at) VALUES ($1, $2, now() + $3 * interval '1 millisecond') ON CONFLICT DO NOTHING`,
    [fence.tenantId, sessionId, ttlMs],
  );
  const session = await findSession(tx, sessionId, fence.taskId, acceptedAt, 'FOR UPDATE');
  if (session === undefined) throw new AppError('INTERNAL', `session ${sessionId} went away under its lock`);
  if (session.is_newer) return { sessionId, outcome: 'reset' };
  if (write.reset || session.expired) {
    await tx.query(
      `UPDATE ledger.sessions SET forgotten = 0, extracted_through = last_n, reset_by = $2,
         reset_at = CASE WHEN $2::text IS NULL THEN expires_at ELSE clock_timestamp() END WHERE ${OF_SESSION}`,
      [sessionId, write.reset ? fence.taskId : null],
    );
    await deleteItems(tx, sessionId);
  }
  await putItems(tx, write, prefix, session.last_n);
  await forgetOldest(tx, sessionId);
  await tx.query(
    `UPDATE ledger.sessions SET expires_at = clock_timestamp() + $2 * interval '1 millisecond',
       extracted_through = CASE WHEN extracted_through = $3 THEN $4 ELSE extracted_through END WHERE ${OF_SESSION}`,
    [sessionId, ttlMs, write.extracted?.after ?? -1, write.extracted?.through ?? 0],
  );
  return { sessionId, outcome: 'kept' };
}

/**
 * Ends a session now; returns how many items it had. What tasks accepted earlier say is not kept, even if the session
 * had not begun yet. In a transaction of the tenant.
 */
export async function resetSession(tx: Tx, tenantId: string, sessionId: string): Promise<number> {
  await tx.query(
    `INSERT INTO ledger.sessions AS s (tenant_id, session_id, expires_at) VALUES ($1, $2, clock_timestamp())
     ON CONFLICT (tenant_id, session_id) DO UPDATE SET expires_at = clock_timestamp(), reset_by = NULL, forgotten = 0, extracted_through = s.last_n`,
    [tenantId, sessionId],
  );
  return await deleteItems(tx, sessionId);
}

/** For a step that says nothing now: neither begins a session nor extends it. */
async function takeBack(tx: Tx, sessionId: string, prefix: string): Promise<void> {
  await tx.query(`SELECT FROM ledger.sessions WHERE ${OF_SESSION} FOR UPDATE`, [sessionId]);
  await deleteItems(tx, sessionId, prefix);
}

/** Those whose keys begin with `prefix`; all by default. Returns how many there were. */
async function deleteItems(tx: Tx, sessionId: string, prefix = ''): Promise<number> {
  const { rowCount } = await tx.query(
    `DELETE FROM ledger.session_items WHERE ${OF_SESSION} AND starts_with(item_key, $2)`,
    [sessionId, prefix],
  );
  return rowCount ?? 0;
}

/**
 * Replaces what the step said before. A repeated write changes nothing; changed items get new numbers, so that they are
 * searched again.
 */
async function putItems(tx: Tx, { sessionId, fence, items }: Write, prefix: string, lastN: number): Promise<void> {
  const keys = items.map(({ key }) => `${prefix}${key}`);
  const { rows: known } = await tx.query<{ item_key: string; said_by: SessionSpeaker; text: string }>(
    `SELECT item_key, said_by, text FROM ledger.session_items WHERE ${OF_SESSION} AND starts_with(item_key, $2) ORDER BY n`,
    [sessionId, prefix],
  );
  const isSame = ({ from, text }: Write['items'][number], index: number) => {
    const item = known[index];
    return item?.item_key === keys[index] && item?.said_by === from && item.text === text;
  };
  if (known.length === items.length && items.every(isSame)) return;
  if (known.length > 0) await deleteItems(tx, sessionId, prefix);
  if (items.length === 0) return;
  await tx.query(
    `INSERT INTO ledger.session_items (tenant_id, session_id, n, item_key, said_by, text, task_id)
     SELECT $1, $2, $3 + row_number() OVER (ORDER BY x.place), x.item_key, x.said_by, x.text, $4
     FROM unnest($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS x (item_key, said_by, text, place)`,
    [
      fence.tenantId,
      sessionId,
      lastN,
      fence.taskId,
      keys,
      items.map(({ from }) => from),
      items.map(({ text }) => text),
    ],
  );
  await tx.query(`UPDATE ledger.sessions SET last_n = last_n + $2 WHERE ${OF_SESSION}`, [sessionId, items.length]);
}

/** Keeps the newest items within the bounds. */
async function forgetOldest(tx: Tx, sessionId: string): Promise<void> {
  await tx.query(
    `WITH gone AS (
       DELETE FROM ledger.session_items WHERE ${OF_SESSION} AND n <= (
         SELECT max(n) FROM (
           SELECT n, row_number() OVER newest AS place, sum(octet_length(text)) OVER newest AS bytes
           FROM ledger.session_items WHERE ${OF_SESSION} WINDOW newest AS (ORDER BY n DESC)
         ) x WHERE place > $2 OR bytes > $3)
       RETURNING n)
     UPDATE ledger.sessions SET forgotten = forgotten + (SELECT count(*) FROM gone) WHERE ${OF_SESSION}`,
    [sessionId, MAX_SESSION_ITEMS, MAX_SESSION_BYTES],
  );
}

/** Removes what has expired, of all tenants; at most `limit` sessions. Returns how much was removed. */
export async function forgetSessions(tx: Tx, limit: number): Promise<number> {
  const { rows } = await tx.query<{ gone: number }>('SELECT ledger.forget_sessions($1) AS gone', [limit]);
  return rows[0]?.gone ?? 0;
}
