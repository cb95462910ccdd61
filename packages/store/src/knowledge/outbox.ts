import type { Tx } from '../database.ts';

export type KnowledgeMessage = {
  readonly stream: string;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** `Nats-Msg-Id`. */
  readonly messageId: string;
};
export type KnowledgeOutboxRow = KnowledgeMessage & { readonly outboxId: number };

const COLUMNS = 'outbox_id AS "outboxId", stream, subject, headers, body, message_id AS "messageId"';

/** Messages that go out once the transaction is committed. Returns them with their row ids, in order. */
export async function insertKnowledgeOutbox(
  tx: Tx,
  messages: readonly KnowledgeMessage[],
): Promise<KnowledgeOutboxRow[]> {
  if (messages.length === 0) return [];
  const { rows } = await tx.query<KnowledgeOutboxRow>(
    `INSERT INTO knowledge.outbox (stream, subject, headers, body, message_id)
     SELECT stream, subject, headers, body, "messageId"
     FROM json_to_recordset($1) AS x (stream text, subject text, headers json, body text, "messageId" text) RETURNING ${COLUMNS}`,
    [JSON.stringify(messages)],
  );
  return rows.sort((a, b) => a.outboxId - b.outboxId);
}

/** Rows that nobody has managed to publish for `olderThanMs` (the process died, the broker was away), oldest first. */
export async function findLeftKnowledgeOutbox(
  tx: Tx,
  olderThanMs: number,
  limit: number,
): Promise<KnowledgeOutboxRow[]> {
  const { rows } = await tx.query<KnowledgeOutboxRow>(
    `SELECT ${COLUMNS} FROM knowledge.outbox WHERE created_at <= now() - make_interval(secs => $1::float8 / 1000) ORDER BY outbox_id LIMIT $2`,
    [olderThanMs, limit],
  );
  return rows;
}

/** Their PubAcks have come. */
export async function deleteKnowledgeOutbox(tx: Tx, outboxIds: readonly number[]): Promise<void> {
  if (outboxIds.length === 0) return;
  await tx.query('DELETE FROM knowledge.outbox WHERE outbox_id = ANY ($1::int8[])', [outboxIds]);
}

export type KnowledgeGauges = {
  readonly outboxRows: number;
  readonly outboxAgeSeconds: number;
  /** Candidates whose task has no verdict yet, or was held. */
  readonly undecided: number;
  /** Redactions that are not confirmed yet. */
  readonly redactionsOpen: number;
};

/** What the maintainer has yet to publish, to decide and to confirm. */
export async function readKnowledgeGauges(tx: Tx): Promise<KnowledgeGauges> {
  const { rows } = await tx.query<KnowledgeGauges>(
    `SELECT (SELECT count(*) FROM knowledge.outbox)::int4 AS "outboxRows",
       coalesce((SELECT extract(epoch FROM now() - min(created_at)) FROM knowledge.outbox), 0)::float8 AS "outboxAgeSeconds",
       (SELECT count(*) FROM knowledge.candidates WHERE state <> 'settled')::int4 AS undecided,
       (SELECT count(*) FROM knowledge.redactions WHERE confirmed_at IS NULL)::int4 AS "redactionsOpen"`,
  );
  return rows[0] ?? { outboxRows: 0, outboxAgeSeconds: 0, undecided: 0, redactionsOpen: 0 };
}
