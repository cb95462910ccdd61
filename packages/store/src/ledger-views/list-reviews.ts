import { type FactReviews, type RequestOf, ReviewView, type ValueOf } from '@cleanslate/contracts';
import { countVotes } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { ADJUSTED_NOW, WEIGHT } from '../knowledge/fact-row.ts';
import { parsePosition } from './page-token.ts';

type ReviewRow = {
  readonly review_id: number;
  readonly fact: string;
  readonly statement: string;
  readonly weight: number;
  readonly believed: boolean;
  readonly opened_at: Date;
  readonly closed_at: Date | null;
  readonly closed_by: string | null;
  readonly outcome: string | null;
  readonly said:
    | { by: string; verdict: 'wrong' | 'right'; note: string | null; taskId: string; at: string; counts: boolean }[]
    | null;
};

/**
 * What the transaction's tenant has under review, newest first; `all`: also what was closed, and versions
 * that are believed no longer.
 */
export async function listReviews(tx: Tx, query: RequestOf<typeof FactReviews>): Promise<ValueOf<typeof FactReviews>> {
  const limit = query.limit ?? 50;
  const { rows } = await tx.query<ReviewRow>(
    `SELECT r.review_id, r.knowledge_id || '@' || r.version AS fact, v.statement, ${WEIGHT} AS weight, upper_inf(v.revisions) AS believed,
       r.opened_at, r.closed_at, r.closed_by, r.outcome,
       (SELECT json_agg(json_build_object('by', f.person, 'verdict', f.verdict, 'note', f.note, 'taskId', f.task_id, 'counts', f.counts,
          'at', to_char(f.said_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY f.revision, f.task_id)
        FROM knowledge.feedback f WHERE f.tenant_id = r.tenant_id AND f.knowledge_id = r.knowledge_id AND f.version = r.version) AS said
     FROM knowledge.reviews r
     JOIN knowledge.fact_versions v ON v.tenant_id = r.tenant_id AND v.knowledge_id = r.knowledge_id AND v.version = r.version
     ${ADJUSTED_NOW}
     WHERE r.tenant_id = current_setting('cleanslate.tenant') AND r.review_id < $1 AND ($2::text IS NULL OR r.knowledge_id = $2)
       AND ($3 OR r.closed_at IS NULL AND upper_inf(v.revisions)) ORDER BY r.review_id DESC LIMIT $4`,
    [parsePosition(query.before), query.knowledgeId ?? null, query.all ?? false, limit],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { reviews: rows.map(toView), next: last === undefined ? null : String(last.review_id) };
}

function toView(row: ReviewRow): ReviewView {
  const said = row.said ?? [];
  const counted = said.filter(({ counts }) => counts).map(({ by, verdict }) => ({ person: by, verdict }));
  return ReviewView.parse({
    reviewId: row.review_id,
    fact: row.fact,
    statement: row.statement,
    weight: row.weight,
    ...countVotes(counted),
    said: said.map(({ counts: _, ...each }) => each),
    openedAt: row.opened_at.toISOString(),
    state: row.closed_at !== null ? 'closed' : row.believed ? 'open' : 'superseded',
    closedBy: row.closed_by,
    outcome: row.outcome,
  });
}
