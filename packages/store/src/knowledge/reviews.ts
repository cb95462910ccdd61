import type { Tx } from '../database.ts';

export type VersionRef = { readonly knowledgeId: string; readonly version: number };

/** Opens a review of each version that has none open. Returns those that are open now. */
export async function openReviews(
  tx: Tx,
  tenantId: string,
  versions: readonly VersionRef[],
  at: Date,
): Promise<number[]> {
  if (versions.length === 0) return [];
  const names = [tenantId, versions.map(({ knowledgeId }) => knowledgeId), versions.map(({ version }) => version)];
  await tx.query(
    `INSERT INTO knowledge.reviews (tenant_id, knowledge_id, version, opened_at)
     SELECT $1, x.knowledge_id, x.version, $4 FROM unnest($2::text[], $3::int[]) AS x (knowledge_id, version) ON CONFLICT DO NOTHING`,
    [...names, at],
  );
  const { rows } = await tx.query<{ review_id: number }>(
    `SELECT r.review_id FROM unnest($2::text[], $3::int[]) AS x (knowledge_id, version)
     JOIN knowledge.reviews r ON r.tenant_id = $1 AND r.knowledge_id = x.knowledge_id AND r.version = x.version AND r.closed_at IS NULL ORDER BY 1`,
    names,
  );
  return rows.map((row) => row.review_id);
}

export async function findReview(
  tx: Tx,
  tenantId: string,
  reviewId: number,
): Promise<(VersionRef & { readonly closed: boolean }) | undefined> {
  const { rows } = await tx.query<VersionRef & { closed: boolean }>(
    `SELECT knowledge_id AS "knowledgeId", version, closed_at IS NOT NULL AS closed FROM knowledge.reviews WHERE tenant_id = $1 AND review_id = $2`,
    [tenantId, reviewId],
  );
  return rows[0];
}

export async function closeReview(
  tx: Tx,
  reviewId: number,
  { by, outcome, at }: { readonly by: string; readonly outcome: string; readonly at: Date },
): Promise<void> {
  await tx.query(
    'UPDATE knowledge.reviews SET closed_at = $2, closed_by = $3, outcome = $4 WHERE review_id = $1 AND closed_at IS NULL',
    [reviewId, at, by, outcome],
  );
}
