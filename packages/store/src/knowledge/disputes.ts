import { AccessLevel, DisputeView } from '@cleanslate/contracts';
import { type OpenClaim, toOpenClaim } from '@cleanslate/domain';
import type { Tx } from '../database.ts';

type DisputeRow = {
  dispute_id: number;
  knowledge_id: string;
  incumbent_version: number;
  challenger: unknown;
  reason: string;
  opened_at: Date;
  resolution: string | null;
  resolved_by: string | null;
  resolved_at: Date | null;
};
const COLUMNS =
  'dispute_id, knowledge_id, incumbent_version, challenger, reason, opened_at, resolution, resolved_by, resolved_at';

export type DisputeQuery = {
  readonly knowledgeId?: string | undefined;
  /** Settled ones too. */
  readonly all?: boolean | undefined;
  readonly limit?: number | undefined;
};

/** A tenant's disputes, newest first. */
export async function listDisputes(tx: Tx, tenantId: string, query: DisputeQuery): Promise<DisputeView[]> {
  const { rows } = await tx.query<DisputeRow>(
    `SELECT ${COLUMNS} FROM knowledge.disputes WHERE tenant_id = $1 AND ($2::text IS NULL OR knowledge_id = $2) AND ($3 OR resolution IS NULL)
     ORDER BY dispute_id DESC LIMIT $4`,
    [tenantId, query.knowledgeId ?? null, query.all ?? false, query.limit ?? 100],
  );
  return rows.map(toView);
}

type ClaimRow = DisputeRow & {
  readonly about_from: Date | null;
  readonly about_until: Date | null;
  readonly levels: readonly string[] | null;
};

/** Claims against these facts that were open at a revision, oldest first, whatever became of them later. */
export async function findClaimsAt(
  tx: Tx,
  tenantId: string,
  revision: number,
  knowledgeIds: readonly string[],
): Promise<OpenClaim[]> {
  const { rows } = await tx.query<ClaimRow>(
    `SELECT ${COLUMNS}, i.*, l.* FROM knowledge.disputes d
     LEFT JOIN LATERAL (
       SELECT lower(v.valid) AS about_from, upper(v.valid) AS about_until FROM knowledge.fact_versions v
       WHERE v.tenant_id = d.tenant_id AND v.knowledge_id = d.knowledge_id AND v.version = d.incumbent_version) i ON true
     CROSS JOIN LATERAL (
       SELECT array_agg(DISTINCT v.access_level) AS levels FROM knowledge.fact_versions v
       WHERE v.tenant_id = d.tenant_id AND v.knowledge_id = d.knowledge_id AND (v.version = d.incumbent_version OR v.revisions @> lower(d.revisions))) l
     WHERE tenant_id = $1 AND knowledge_id = ANY ($3) AND revisions @> $2::bigint ORDER BY dispute_id LIMIT 500`,
    [tenantId, revision, knowledgeIds],
  );
  return rows.map((row) => {
    const about = { from: row.about_from?.toISOString() ?? null, until: row.about_until?.toISOString() ?? null };
    return toOpenClaim(toView(row), about, AccessLevel.array().parse(row.levels ?? []));
  });
}

function toView(row: DisputeRow): DisputeView {
  return DisputeView.parse({
    disputeId: row.dispute_id,
    knowledgeId: row.knowledge_id,
    incumbentVersion: row.incumbent_version,
    challenger: row.challenger,
    reason: row.reason,
    openedAt: row.opened_at.toISOString(),
    resolution: row.resolution,
    resolvedBy: row.resolved_by,
    resolvedAt: row.resolved_at?.toISOString() ?? null,
  });
}

export type StoredDispute = DisputeView & {
  readonly signature: string;
  readonly candidateId: string | null;
  readonly sourceMessageId: string;
  /** When a candidate's proposer said it; otherwise when the dispute was opened. Milliseconds. */
  readonly saidAt: number;
};

export async function findDispute(tx: Tx, tenantId: string, disputeId: number): Promise<StoredDispute | undefined> {
  const { rows } = await tx.query<
    DisputeRow & { challenger_signature: string; candidate_id: string | null; source_message_id: string; said_at: Date }
  >(
    `SELECT ${COLUMNS}, challenger_signature, candidate_id, source_message_id,
       coalesce((SELECT c.said_at FROM knowledge.candidates c WHERE c.tenant_id = d.tenant_id AND c.candidate_id = d.candidate_id), opened_at) AS said_at
     FROM knowledge.disputes d WHERE tenant_id = $1 AND dispute_id = $2`,
    [tenantId, disputeId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    ...toView(row),
    signature: row.challenger_signature,
    candidateId: row.candidate_id,
    sourceMessageId: row.source_message_id,
    saidAt: row.said_at.getTime(),
  };
}

export type DisputeResolution = {
  readonly resolution: 'incumbent' | 'challenger' | 'both_wrong';
  readonly by: string;
  readonly reason: string | null;
};

/**
 * Settles a dispute as of a revision; if the challenger won, also those of the same message against other versions of
 * the fact. One that was opened in this very revision can't be settled: ranges contain at least one revision.
 */
export async function resolveDispute(
  tx: Tx,
  disputeId: number,
  { resolution, by, reason }: DisputeResolution,
  at: Date,
  revision: number,
): Promise<void> {
  await tx.query(
    `UPDATE knowledge.disputes d SET resolution = $2, resolved_by = $3, resolution_reason = $4, resolved_at = $5, revisions = int8range(lower(d.revisions), $6)
     FROM knowledge.disputes one WHERE one.dispute_id = $1 AND d.resolution IS NULL AND (d.dispute_id = $1 OR $2 = 'challenger' AND d.tenant_id = one.tenant_id
       AND d.knowledge_id = one.knowledge_id AND d.challenger_signature = one.challenger_signature AND d.source_message_id = one.source_message_id)`,
    [disputeId, resolution, by, reason, at, revision],
  );
}

export type Judgement = { readonly tenantId: string; readonly knowledgeId: string; readonly signature: string };

/** Challengers that were turned down for these facts: they are not raised again. */
export async function findTurnedDown(
  tx: Tx,
  facts: readonly { readonly tenantId: string; readonly knowledgeId: string }[],
): Promise<Judgement[]> {
  if (facts.length === 0) return [];
  const { rows } = await tx.query<Judgement>(
    `SELECT d.tenant_id AS "tenantId", d.knowledge_id AS "knowledgeId", d.challenger_signature AS signature
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS x (tenant_id, id)) f
     JOIN knowledge.disputes d ON d.tenant_id = f.tenant_id AND d.knowledge_id = f.id AND d.resolution IN ('incumbent', 'both_wrong')`,
    [facts.map(({ tenantId }) => tenantId), facts.map(({ knowledgeId }) => knowledgeId)],
  );
  return rows;
}
