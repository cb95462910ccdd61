import { createHash } from 'node:crypto';
import { Candidate, type FactPairs, KnowledgePair, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import { DEFAULT_SENSITIVE, maskSensitive } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { parsePosition } from './page-token.ts';

type PairRow = {
  readonly seq: number;
  readonly candidate_id: string;
  readonly task_id: string;
  readonly step_id: string;
  readonly said_at: Date;
  readonly settled_at: Date;
  readonly revision: number;
  readonly outcome: string;
  readonly reason: string | null;
  readonly knowledge_id: string | null;
  readonly version: number | null;
  readonly body: unknown;
  readonly clean: string | null;
};

/**
 * What was decided about up to a revision, in the order in which it was proposed; the same question gets the same
 * answer. What was redacted is left out.
 */
export async function listPairs(
  tx: Tx,
  { after, limit = 200 }: Pick<RequestOf<typeof FactPairs>, 'after' | 'limit'>,
  revision: number,
): Promise<ValueOf<typeof FactPairs>> {
  const { rows } = await tx.query<PairRow>(
    `SELECT c.candidate_seq AS seq, c.candidate_id, c.task_id, c.step_id, c.said_at, c.settled_at, c.revision, c.outcome, c.reason, c.knowledge_id, c.version, c.body,
       CASE WHEN c.outcome IN ('accepted', 'updated', 'duplicate') THEN v.statement END AS clean
     FROM knowledge.candidates c
     LEFT JOIN knowledge.fact_versions v ON v.tenant_id = c.tenant_id AND v.knowledge_id = c.knowledge_id AND v.version = c.version
     WHERE c.tenant_id = current_setting('cleanslate.tenant') AND c.candidate_seq > $1 AND c.state = 'settled' AND c.revision <= $2
       AND v.redacted_revision IS NULL AND c.body->>'statement' <> '[redacted]' ORDER BY c.candidate_seq LIMIT $3`,
    [parsePosition(after, 0), revision, limit],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { pairs: rows.map(toPair), revision, next: last === undefined ? null : String(last.seq) };
}

function toPair(row: PairRow): KnowledgePair {
  const body = Candidate.parse(row.body);
  // They were masked when they came in; what was imported before there was a rule for it is masked here.
  const raw = maskSensitive(body.statement, DEFAULT_SENSITIVE);
  const clean = row.clean === null ? null : maskSensitive(row.clean, DEFAULT_SENSITIVE);
  return KnowledgePair.parse({
    seq: row.seq,
    candidateId: row.candidate_id,
    taskId: row.task_id,
    stepId: row.step_id,
    saidAt: row.said_at.toISOString(),
    settledAt: row.settled_at.toISOString(),
    revision: row.revision,
    decision: row.outcome,
    reason: row.reason === null ? null : maskSensitive(row.reason, DEFAULT_SENSITIVE),
    fact: row.knowledge_id === null || row.version === null ? null : `${row.knowledge_id}@${row.version}`,
    sourceType: body.sourceType,
    sourceRef: body.sourceRef,
    knowledgeType: body.knowledgeType,
    confidence: body.confidence,
    raw,
    rawSha256: sha256(raw),
    clean,
    cleanSha256: clean === null ? null : sha256(clean),
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
