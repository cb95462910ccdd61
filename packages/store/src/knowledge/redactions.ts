import { randomBytes } from 'node:crypto';
import { Candidate, type CandidateOutcome } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { saying } from '../saying.ts';
import { type FactRow, toAssertion } from './fact-row.ts';

/** A version with everything that must go, and what leads to copies of it. */
export type RedactableVersion = {
  readonly factSeq: number;
  readonly version: number;
  readonly statement: string;
  readonly signature: string;
  readonly contentHash: string;
  readonly value: string | null;
  readonly sourceMessageId: string;
  readonly redacted: boolean;
};

type RedactableRow = Pick<
  FactRow,
  'version' | 'statement' | 'subject' | 'predicate' | 'value' | 'unit' | 'polarity' | 'modality'
> & {
  fact_seq: number;
  signature: string;
  content_hash: string;
  source_message_id: string;
  redacted: boolean;
};

/** Versions of a fact, oldest first; of one version, it and those that say the same. */
export async function findRedactable(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
  version: number | null,
): Promise<RedactableVersion[]> {
  const { rows } = await tx.query<RedactableRow>(
    `SELECT fact_seq, version, statement, subject, predicate, value, unit, polarity, modality, signature, content_hash, source_message_id,
       redacted_revision IS NOT NULL AS redacted
     FROM knowledge.fact_versions v WHERE tenant_id = $1 AND knowledge_id = $2 AND ($3::int IS NULL OR version = $3 OR content_hash = (
       SELECT o.content_hash FROM knowledge.fact_versions o WHERE o.tenant_id = $1 AND o.knowledge_id = $2 AND o.version = $3))
     ORDER BY version`,
    [tenantId, knowledgeId, version],
  );
  return rows.map((row) => ({
    factSeq: row.fact_seq,
    version: row.version,
    statement: row.statement,
    signature: row.signature,
    contentHash: row.content_hash,
    sourceMessageId: row.source_message_id,
    redacted: row.redacted,
    value: toAssertion(row)?.value ?? null,
  }));
}

export type SayingVersion = { readonly ref: string; readonly statement: string; readonly same: boolean };

/**
 * Versions of other facts that say the same (first), or may hold one of the phrases in what they say; at most `limit`.
 */
export async function findSayingVersions(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
  {
    signatures,
    phrases,
    limit,
  }: { readonly signatures: readonly string[]; readonly phrases: readonly string[]; readonly limit: number },
): Promise<SayingVersion[]> {
  const { sql, values } = saying('statement', phrases, 5);
  const { rows } = await tx.query<SayingVersion>(
    `SELECT knowledge_id || '@' || version AS ref, statement, signature = ANY ($3) AS same FROM knowledge.fact_versions
     WHERE tenant_id = $1 AND knowledge_id <> $2 AND redacted_revision IS NULL AND (signature = ANY ($3) OR ${sql}) ORDER BY same DESC, 1 LIMIT $4`,
    [tenantId, knowledgeId, signatures, limit, ...values],
  );
  return rows;
}

/** The secret of these tenants; those without one have redacted nothing yet. */
export async function findRedactionKeys(
  tx: Tx,
  tenantIds: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (tenantIds.length === 0) return new Map();
  const { rows } = await tx.query<{ tenant_id: string; key: Buffer }>(
    'SELECT tenant_id, key FROM knowledge.redaction_keys WHERE tenant_id = ANY ($1)',
    [[...new Set(tenantIds)]],
  );
  return new Map(rows.map((row) => [row.tenant_id, row.key]));
}

/** The tenant's secret, made at its first redaction. Needs the knowledge lock. */
export async function takeRedactionKey(tx: Tx, tenantId: string): Promise<Uint8Array> {
  const known = (await findRedactionKeys(tx, [tenantId])).get(tenantId);
  if (known !== undefined) return known;
  const key = randomBytes(32);
  await tx.query('INSERT INTO knowledge.redaction_keys (tenant_id, key) VALUES ($1, $2)', [tenantId, key]);
  return key;
}

/** Which of these keyed hashes stand for something that was redacted. */
export async function findRedactedContents(
  tx: Tx,
  contents: readonly { readonly tenantId: string; readonly hash: string }[],
): Promise<ReadonlySet<string>> {
  if (contents.length === 0) return new Set();
  const { rows } = await tx.query<{ tenant_id: string; hash: string }>(
    `SELECT r.tenant_id, r.hash FROM unnest($1::text[], $2::text[]) AS x (tenant_id, hash)
     JOIN knowledge.redacted_contents r ON r.tenant_id = x.tenant_id AND r.hash = x.hash`,
    [contents.map(({ tenantId }) => tenantId), contents.map(({ hash }) => hash)],
  );
  return new Set(rows.map((row) => `${row.tenant_id}/${row.hash}`));
}

export type Tombstone = { readonly version: number; readonly signature: string; readonly content_hash: string };

export type NewRedaction = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly versions: readonly RedactableVersion[];
  readonly tombstones: readonly Tombstone[];
  readonly revision: number;
  readonly at: Date;
  readonly reason: string;
  readonly by: string;
  readonly requestId: string;
  readonly phrases: readonly string[];
  /** Keyed: what may not come back. */
  readonly contents: readonly string[];
};

/**
 * Records a redaction and takes the versions' content out of every table of facts. Needs the
 * knowledge lock. Returns its number.
 */
export async function insertRedaction(tx: Tx, redaction: NewRedaction): Promise<number> {
  const { tenantId, knowledgeId, versions, tombstones, revision, at, reason, by, requestId, phrases } = redaction;
  const hashes = versions.flatMap(({ contentHash, signature }) => [contentHash, signature]);
  const { rows } = await tx.query<{ redaction_id: number }>(
    `INSERT INTO knowledge.redactions (tenant_id, knowledge_id, versions, revision, reason, redacted_by, redacted_at, source_message_id, phrases, hashes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING redaction_id`,
    [
      tenantId,
      knowledgeId,
      versions.map(({ version }) => version),
      revision,
      reason,
      by,
      at,
      requestId,
      phrases,
      [...new Set(hashes)],
    ],
  );
  const redactionId = rows[0]?.redaction_id ?? 0;
  await tx.query(
    `INSERT INTO knowledge.redacted_contents (tenant_id, hash, redaction_id) SELECT DISTINCT $1, x, $3::int8 FROM unnest($2::text[]) x ON CONFLICT DO NOTHING`,
    [tenantId, redaction.contents, redactionId],
  );
  await tx.query('SELECT knowledge.erase_versions($1, $2, $3, $4)', [
    tenantId,
    knowledgeId,
    JSON.stringify(tombstones),
    revision,
  ]);
  // What the audit says of these versions; of others, what holds the words goes with other notes (`eraseNotes`).
  await tx.query(`SELECT knowledge.erase_audit($1, $2, $3, '{}')`, [
    tenantId,
    knowledgeId,
    versions.map(({ version }) => version),
  ]);
  await eraseDerived(tx, redaction, hashes);
  return redactionId;
}

/**
 * Terms, vectors, sources of later sayings, answers to the requests that brought it, and what is still to be published.
 */
async function eraseDerived(
  tx: Tx,
  { tenantId, knowledgeId, versions, tombstones, revision, at }: NewRedaction,
  hashes: readonly string[],
) {
  const seqs = versions.map(({ factSeq }) => factSeq);
  await tx.query(
    `UPDATE knowledge.fact_lexemes SET terms = ''::tsvector, length = 0 WHERE fact_seq = ANY ($1::int8[])`,
    [seqs],
  );
  await tx.query('DELETE FROM knowledge.fact_embeddings WHERE fact_seq = ANY ($1::int8[])', [seqs]);
  await tx.query(
    `UPDATE knowledge.sightings SET source_ref = 'redacted' WHERE tenant_id = $1 AND knowledge_id = $2 AND version = ANY ($3::int[])`,
    [tenantId, knowledgeId, versions.map(({ version }) => version)],
  );
  // What people said of the answers that rested on it; that they did, and how it ended, stays.
  const named = [tenantId, knowledgeId, versions.map(({ version }) => version)];
  await tx.query(
    'UPDATE knowledge.feedback SET note = NULL WHERE tenant_id = $1 AND knowledge_id = $2 AND version = ANY ($3::int[])',
    named,
  );
  await tx.query(
    `UPDATE knowledge.reviews SET outcome = 'redacted' WHERE tenant_id = $1 AND knowledge_id = $2 AND version = ANY ($3::int[]) AND outcome IS NOT NULL`,
    named,
  );
  // A hash of what was asked, too, could be found by trying.
  await tx.query('DELETE FROM knowledge.requests WHERE tenant_id = $1 AND request_id = ANY ($2)', [
    tenantId,
    versions.map(({ sourceMessageId }) => sourceMessageId),
  ]);
  for (const hash of new Set(hashes)) {
    await tx.query(
      `UPDATE knowledge.outbox SET body = replace(body, $1, repeat('0', 64)) WHERE position($1 IN body) > 0`,
      [hash],
    );
  }
  await tx.query(
    `INSERT INTO knowledge.fact_log (at, revision, ordinal, tenant_id, knowledge_id, version, kind, body)
     SELECT $1, $2::int8, 1000000 + x.n, $3, $4, x.version, 'redacted', json_build_object('signature', x.signature, 'content_hash', x.content_hash)
     FROM json_to_recordset($5) AS x (n int, version int, signature text, content_hash text)`,
    [at, revision, tenantId, knowledgeId, JSON.stringify(tombstones.map((tombstone, n) => ({ ...tombstone, n })))],
  );
}

/** A candidate with what it says as it stands in its row; `body` is null where that can't be read. */
export type RedactableCandidate = {
  readonly candidateId: string;
  readonly said: unknown;
  readonly body: Candidate | null;
  readonly settled: boolean;
  readonly outcome: CandidateOutcome | null;
};

/** Candidates that became these versions, repeated or challenged them, and undecided ones, whatever they say. */
export async function findCandidatesOf(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
  versions: readonly number[] | null,
): Promise<RedactableCandidate[]> {
  const { rows } = await tx.query<Omit<RedactableCandidate, 'body'>>(
    `SELECT candidate_id AS "candidateId", body AS said, state = 'settled' AS settled, outcome FROM knowledge.candidates
     WHERE tenant_id = $1 AND knowledge_id = $2 AND ($3::int[] IS NULL OR version = ANY ($3))
     UNION ALL SELECT candidate_id, body, false, NULL FROM knowledge.candidates WHERE tenant_id = $1 AND state <> 'settled' AND knowledge_id IS NULL`,
    [tenantId, knowledgeId, versions],
  );
  return rows.map((row) => ({ ...row, body: Candidate.safeParse(row.said).data ?? null }));
}

/**
 * Puts other bodies (and reasons, where one is given) in the place of candidates' own; those
 * that were undecided are refused.
 */
export async function eraseCandidates(
  tx: Tx,
  tenantId: string,
  candidates: readonly { readonly candidateId: string; readonly body: Candidate; readonly reason?: string | null }[],
  at: Date,
  revision: number,
): Promise<void> {
  if (candidates.length === 0) return;
  await tx.query(
    `UPDATE knowledge.candidates c SET body = x.body, reason = CASE WHEN c.state = 'settled' THEN coalesce(x.reason, c.reason) ELSE 'redacted' END,
       outcome = coalesce(c.outcome, 'rejected'), revision = coalesce(c.revision, $4), settled_at = coalesce(c.settled_at, $3), state = 'settled'
     FROM json_to_recordset($2) AS x ("candidateId" text, body json, reason text) WHERE c.tenant_id = $1 AND c.candidate_id = x."candidateId"`,
    [tenantId, JSON.stringify(candidates), at, revision],
  );
}

/** The newest redaction of a fact. */
export async function findLastRedaction(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
): Promise<{ readonly redactionId: number; readonly revision: number } | undefined> {
  const { rows } = await tx.query<{ redactionId: number; revision: number }>(
    `SELECT redaction_id AS "redactionId", revision FROM knowledge.redactions WHERE tenant_id = $1 AND knowledge_id = $2 ORDER BY redaction_id DESC LIMIT 1`,
    [tenantId, knowledgeId],
  );
  return rows[0];
}
