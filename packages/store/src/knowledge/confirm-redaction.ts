import type { Tx } from '../database.ts';
import { saying } from '../saying.ts';

export type ErasedRedaction = {
  readonly redactionId: number;
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly versions: readonly number[];
  readonly phrases: readonly string[];
  readonly hashes: readonly string[];
};

/** Redactions that the scheduler has finished and that are not confirmed yet, oldest first. */
export async function findErased(tx: Tx, limit: number): Promise<ErasedRedaction[]> {
  const { rows } = await tx.query<ErasedRedaction>(
    `SELECT r.redaction_id AS "redactionId", r.tenant_id AS "tenantId", r.knowledge_id AS "knowledgeId", r.versions, r.phrases, r.hashes
     FROM knowledge.redactions r JOIN ledger.erasures e ON e.redaction_id = r.redaction_id
     WHERE r.confirmed_at IS NULL AND e.done_at IS NOT NULL ORDER BY r.redaction_id LIMIT $1`,
    [limit],
  );
  return rows;
}

/** As stored: it must also be erased from what can't be read any more. */
export type SayingCandidate = {
  readonly seq: number;
  readonly candidateId: string;
  readonly body: unknown;
  readonly reason: string | null;
};

/**
 * Candidates that became no version of a fact (refused, dropped, disputed, undecided) or repeat one, and may contain
 * one of the phrases, after `after`.
 */
export async function findSayingCandidates(
  tx: Tx,
  { tenantId, phrases }: Pick<ErasedRedaction, 'tenantId' | 'phrases'>,
  after: number,
  limit: number,
): Promise<SayingCandidate[]> {
  const { sql, values } = saying(`concat_ws(' ', body::text, reason)`, phrases, 4);
  const { rows } = await tx.query<SayingCandidate>(
    `SELECT candidate_seq AS seq, candidate_id AS "candidateId", body, reason FROM knowledge.candidates
     WHERE tenant_id = $1 AND candidate_seq > $2 AND (version IS NULL OR outcome IS NULL OR outcome NOT IN ('accepted', 'updated')) AND ${sql}
     ORDER BY candidate_seq LIMIT $3`,
    [tenantId, after, limit, ...values],
  );
  return rows;
}

/** Collects the planner's samples of all columns again: the old ones may contain what was erased. */
export async function sampleAnew(tx: Tx): Promise<void> {
  await tx.query('SELECT knowledge.sample_anew()');
}

/**
 * Forgets what was looked for: from here on nothing in the database reveals it. A vector that was being made meanwhile
 * is deleted too.
 */
export async function confirmRedaction(tx: Tx, { redactionId, tenantId, knowledgeId }: ErasedRedaction): Promise<void> {
  await tx.query(
    `DELETE FROM knowledge.fact_embeddings e USING knowledge.fact_versions v
     WHERE v.tenant_id = $1 AND v.knowledge_id = $2 AND v.redacted_revision IS NOT NULL AND e.fact_seq = v.fact_seq`,
    [tenantId, knowledgeId],
  );
  await tx.query(
    'UPDATE knowledge.redactions SET phrases = NULL, hashes = NULL, confirmed_at = clock_timestamp() WHERE redaction_id = $1 AND confirmed_at IS NULL',
    [redactionId],
  );
}
