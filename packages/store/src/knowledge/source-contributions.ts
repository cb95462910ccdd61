import type { Tx } from '../database.ts';

/** Whose contributions: one task's, or those of one document. */
export type Source = { readonly taskId: string | null; readonly sourceRef: string | null };
export type Contribution = {
  readonly knowledgeId: string;
  readonly version: number;
  /** Another source, or another task, said it too. */
  readonly confirmed: boolean;
};

/** Versions from a source that are believed now, at most `limit`. */
export async function findContributions(
  tx: Tx,
  tenantId: string,
  source: Source,
  limit: number,
): Promise<Contribution[]> {
  const { rows } = await tx.query<Contribution>(
    `SELECT v.knowledge_id AS "knowledgeId", v.version, EXISTS (
       SELECT FROM knowledge.sightings s JOIN knowledge.fact_versions o ON o.tenant_id = s.tenant_id AND o.knowledge_id = s.knowledge_id AND o.version = s.version
       LEFT JOIN knowledge.candidates c ON c.tenant_id = s.tenant_id AND c.candidate_id = s.candidate_id
       WHERE s.tenant_id = v.tenant_id AND s.knowledge_id = v.knowledge_id AND o.content_hash = v.content_hash
         AND CASE WHEN $2::text IS NOT NULL THEN c.task_id IS DISTINCT FROM $2 ELSE s.source_ref <> $3 END) AS confirmed
     FROM knowledge.fact_versions v
     WHERE v.tenant_id = $1 AND ${source.taskId === null ? '$2::text IS NULL AND v.source_ref = $3' : '$3::text IS NULL AND v.task_id = $2'} AND upper_inf(v.revisions)
     ORDER BY 1, 2 LIMIT $4`,
    [tenantId, source.taskId, source.sourceRef, limit],
  );
  return rows;
}

/** Candidates of a source that nothing was decided about, by id. */
export async function findUndecided(tx: Tx, tenantId: string, { taskId, sourceRef }: Source): Promise<string[]> {
  const { rows } = await tx.query<{ candidate_id: string }>(
    `SELECT candidate_id FROM knowledge.candidates WHERE tenant_id = $1 AND state <> 'settled'
       AND ($2::text IS NULL OR task_id = $2) AND ($3::text IS NULL OR body->>'sourceRef' = $3) ORDER BY candidate_seq`,
    [tenantId, taskId, sourceRef],
  );
  return rows.map((row) => row.candidate_id);
}

/** Open disputes whose challenger a source brought. */
export async function findChallenges(tx: Tx, tenantId: string, { taskId, sourceRef }: Source): Promise<number[]> {
  const { rows } = await tx.query<{ dispute_id: number }>(
    `SELECT d.dispute_id FROM knowledge.disputes d LEFT JOIN knowledge.candidates c ON c.tenant_id = d.tenant_id AND c.candidate_id = d.candidate_id
     WHERE d.tenant_id = $1 AND d.resolution IS NULL AND ($2::text IS NULL OR c.task_id = $2) AND ($3::text IS NULL OR d.challenger->>'sourceRef' = $3) ORDER BY 1`,
    [tenantId, taskId, sourceRef],
  );
  return rows.map((row) => row.dispute_id);
}
