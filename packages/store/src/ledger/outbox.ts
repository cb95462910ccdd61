import type { Tx } from '../database.ts';
import { PHASE, STEP_OF_X } from './one-plan.ts';
import type { OutboxCommand } from './save.ts';

type OutboxRow = {
  outbox_id: number;
  stream: string;
  subject: string;
  headers: Record<string, string>;
  body: string;
  message_id: string;
};

/** Rows that whoever committed them has not managed to publish (it died, or the broker was away), oldest first. */
export async function findLeftOutbox(tx: Tx, olderThanMs: number, limit: number): Promise<readonly OutboxCommand[]> {
  const { rows } = await tx.query<OutboxRow>(
    `SELECT outbox_id, stream, subject, headers, body, message_id FROM ledger.outbox
     WHERE created_at < now() - make_interval(secs => $1::float8 / 1000) ORDER BY outbox_id LIMIT $2`,
    [olderThanMs, limit],
  );
  return rows.map((row) => ({
    outboxId: row.outbox_id,
    stream: row.stream,
    subject: row.subject,
    headers: row.headers,
    body: row.body,
    messageId: row.message_id,
  }));
}

/**
 * PubAcks have come: the rows go, and the stream sequence is stored on each step whose doorbell nobody has answered meanwhile (a claim says more than a
 * PubAck). A step that a batch is changing right now is left out: the ring check then looks for the doorbell by its subject.
 */
export async function removeSent(tx: Tx, sent: readonly { outboxId: number; streamSequence: number }[]): Promise<void> {
  if (sent.length === 0) return;
  await tx.query(
    `WITH sent AS (
       DELETE FROM ledger.outbox o USING unnest($1::int8[], $2::int8[]) AS x(outbox_id, seq) WHERE o.outbox_id = ANY (ARRAY[x.outbox_id])
       RETURNING o.task_seq, o.step_id, o.attempt, o.ring, x.seq
     ), locked AS (
       SELECT l.task_seq, l.step_id, sent.seq FROM sent CROSS JOIN LATERAL (
         SELECT s.task_seq, s.step_id FROM ledger.steps s WHERE s.task_seq = sent.task_seq AND s.step_id = sent.step_id
           AND ${PHASE} = 'dispatched' AND s.attempt = sent.attempt AND s.ring = sent.ring FOR UPDATE SKIP LOCKED
       ) l
     )
     UPDATE ledger.steps s SET doorbell_seq = x.seq FROM locked x WHERE ${STEP_OF_X}`,
    [sent.map((row) => row.outboxId), sent.map((row) => row.streamSequence)],
  );
}
