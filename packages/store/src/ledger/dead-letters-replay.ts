import type { ErrorBody } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { MAX_BULK_REPLAYS } from './dead-letters.ts';
import type { TaskKey } from './rows.ts';

export type ReplayableLetter = {
  readonly letter_id: string;
  readonly tenant_id: string | null;
  readonly task_id: string | null;
  readonly step_id: string | null;
  readonly status: 'open' | 'replaying' | 'closed' | 'discarded';
  readonly stream: string | null;
  readonly consumer: string | null;
  readonly subject: string | null;
  readonly headers: Record<string, string[]>;
  readonly body: Buffer | null;
  readonly reason: string;
  readonly replays: number;
  readonly needs_human: boolean;
};

const COLUMNS =
  'letter_id, tenant_id, task_id, step_id, status, stream, consumer, subject, headers, body, reason, replays, needs_human';

export async function findLetter(tx: Tx, tenantId: string, id: string): Promise<ReplayableLetter | undefined> {
  const { rows } = await tx.query<ReplayableLetter>(
    `SELECT ${COLUMNS} FROM ledger.dead_letters WHERE tenant_id = $1 AND letter_id = $2`,
    [tenantId, id],
  );
  return rows[0];
}

export async function findLetterForUpdate(tx: Tx, tenantId: string, id: string): Promise<ReplayableLetter | undefined> {
  const { rows } = await tx.query<ReplayableLetter>(
    `SELECT ${COLUMNS} FROM ledger.dead_letters WHERE tenant_id = $1 AND letter_id = $2 FOR UPDATE`,
    [tenantId, id],
  );
  return rows[0];
}

/** Open letters of the task, the newest attempt of each step: a replay of one includes the others. */
export async function findOpenLetters(
  tx: Tx,
  { tenantId, taskId }: TaskKey,
): Promise<readonly { letterId: string; stepId: string }[]> {
  const { rows } = await tx.query<{ letter_id: string; step_id: string }>(
    `SELECT letter_id, step_id FROM ledger.dead_letters WHERE tenant_id = $1 AND task_id = $2 AND status = 'open' ORDER BY attempt FOR UPDATE`,
    [tenantId, taskId],
  );
  const newest = new Map(rows.map((row) => [row.step_id, row.letter_id]));
  return [...newest].map(([stepId, letterId]) => ({ letterId, stepId }));
}

export type ReplayMark = {
  /** The bulk replay it is part of. */
  readonly batch?: string | null;
  /** Used instead of the original bytes, which stay. */
  readonly edited?: Uint8Array | null;
  /** A refused message stays open, and the refusal becomes part of its history. */
  readonly status: 'replaying' | 'closed' | 'open';
  readonly error?: ErrorBody | null;
};

export async function markReplayed(tx: Tx, id: string, mark: ReplayMark): Promise<void> {
  const { batch = null, edited = null, status, error = null } = mark;
  await tx.query(
    `UPDATE ledger.dead_letters SET status = $2, replays = replays + 1, bulk_replays = bulk_replays + CASE WHEN $3::text IS NULL THEN 0 ELSE 1 END,
       batch = $3, edited = $4, replay_sequence = NULL, outcome = CASE $2 WHEN 'closed' THEN 'succeeded' WHEN 'open' THEN 'failed_again' END,
       settled_at = CASE WHEN $2 = 'closed' THEN now() END,
       needs_human = CASE WHEN $2 = 'open' THEN $3::text IS NOT NULL AND bulk_replays + 1 >= $7::int ELSE needs_human END,
       history = (history::jsonb || jsonb_build_object('at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'attempt', attempt,
         'what', $5::text, 'error', $6::jsonb))::json
     WHERE letter_id = $1`,
    [
      id,
      status,
      batch,
      edited === null ? null : Buffer.from(edited),
      status === 'open' ? 'replay_refused' : edited === null ? 'replayed' : 'replayed_edited',
      error === null ? 'null' : JSON.stringify(error),
      MAX_BULK_REPLAYS,
    ],
  );
}

/** The replayed work was claimed and reported; letters whose history goes on in another letter failed again. */
export async function closeLetters(tx: Tx, ids: readonly string[], failedAgain: readonly string[] = []): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `UPDATE ledger.dead_letters SET status = 'closed', settled_at = now(), outcome = CASE WHEN letter_id = ANY($2::text[]) THEN 'failed_again' ELSE 'succeeded' END
     WHERE status = 'replaying' AND letter_id = ANY($1::text[])`,
    [ids, failedAgain],
  );
}

/** The work was called off before it ended (cancelled, no longer needed): nobody did what the letters ask for. */
export async function returnLetters(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `UPDATE ledger.dead_letters SET status = 'open', outcome = NULL WHERE status = 'replaying' AND letter_id = ANY($1::text[])`,
    [ids],
  );
}

/** The work was being replayed, and nothing waits for it any more: there is nothing left to ask for. */
export async function discardNeedless(
  tx: Tx,
  letters: readonly { readonly letterId: string; readonly reason: string }[],
): Promise<void> {
  for (const { letterId, reason } of letters) await discardLetter(tx, letterId, `no longer needed: ${reason}`);
}

export async function discardLetter(tx: Tx, id: string, reason: string): Promise<void> {
  await tx.query(
    `UPDATE ledger.dead_letters SET status = 'discarded', settled_at = now(), history = (history::jsonb || jsonb_build_object(
       'at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'attempt', attempt, 'what', $2::text, 'error', null))::json WHERE letter_id = $1`,
    [id, `discarded: ${reason}`],
  );
}

export type ReturningMessage = {
  readonly letterId: string;
  readonly subject: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
  readonly replays: number;
  /** Its sequence in the stream; null until its PubAck has come. */
  readonly sequence: number | null;
};

/** Messages on their way back into their stream, or waiting there unread. */
export async function findReturningMessages(
  tx: Tx,
  stream: string,
  limit: number,
): Promise<readonly ReturningMessage[]> {
  const { rows } = await tx.query<{
    letter_id: string;
    subject: string;
    headers: Record<string, string[]>;
    bytes: Buffer;
    replays: number;
    replay_sequence: number | null;
  }>(
    `SELECT letter_id, subject, headers, coalesce(edited, body) AS bytes, replays, replay_sequence FROM ledger.dead_letters
     WHERE status = 'replaying' AND task_id IS NULL AND stream = $1 ORDER BY last_failed_at, stream_sequence LIMIT $2`,
    [stream, limit],
  );
  return rows.map((row) => ({
    letterId: row.letter_id,
    subject: row.subject,
    headers: row.headers,
    body: row.bytes,
    replays: row.replays,
    sequence: row.replay_sequence,
  }));
}

/** Null: it must be put back once more. */
export async function setReplaySequence(tx: Tx, id: string, sequence: number | null): Promise<void> {
  await tx.query(`UPDATE ledger.dead_letters SET replay_sequence = $2 WHERE letter_id = $1 AND status = 'replaying'`, [
    id,
    sequence,
  ]);
}

/** Letters that ended this long ago are deleted; at most `limit` at once. */
export async function forgetEndedLetters(tx: Tx, retainDays: number, limit: number): Promise<number> {
  const { rowCount } = await tx.query(
    `DELETE FROM ledger.dead_letters WHERE letter_id IN (SELECT letter_id FROM ledger.dead_letters
       WHERE status IN ('closed', 'discarded') AND settled_at < now() - make_interval(days => $1) ORDER BY settled_at LIMIT $2)`,
    [retainDays, limit],
  );
  return rowCount ?? 0;
}
