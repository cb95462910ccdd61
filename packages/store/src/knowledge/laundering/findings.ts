import { KnowledgeLayer, SourceType } from '@cleanslate/contracts';
import type { ExpiredFact, FadingVersion, LaunderFindings, TwinVersion, UncitedFact } from '@cleanslate/domain';
import type { Tx } from '../../database.ts';
import { ADJUSTED_NOW } from '../fact-row.ts';

/** Groups, facts and proposals of each kind that one run looks at; what is beyond is left to the next. */
export type LaunderBounds = { readonly groups: number; readonly proposals: number };

export type FoundFindings = LaunderFindings & { readonly more: boolean };

type TwinRow = {
  knowledge_id: string;
  version: number;
  signature: string;
  lineage_trust: string;
  from: number | null;
  until: number | null;
  written_at: Date;
  twin: string;
};

const BELIEVED = 'v.revision_until = 9007199254740991';

/** What there is to launder in one tenant's knowledge. Times are the database's. */
export async function findLaunderable(
  tx: Tx,
  tenantId: string,
  now: Date,
  bounds: LaunderBounds,
): Promise<FoundFindings> {
  const duplicates = await findTwins(tx, tenantId, 'signature', 'v.knowledge_id', bounds.groups);
  const contradictions = await findTwins(tx, tenantId, 'fact_key', 'v.signature', bounds.groups);
  const keyed = contradictions.flat();
  const asked = await tx.query<{ question: string; open: boolean; id: string }>(
    `SELECT DISTINCT d.knowledge_id || ' ' || d.challenger_signature AS question, d.resolution IS NULL AS open, d.knowledge_id AS id
     FROM knowledge.disputes d WHERE d.tenant_id = $1 AND (d.resolution IS NULL OR d.knowledge_id = ANY ($2))`,
    [tenantId, [...new Set(keyed.map(({ knowledgeId }) => knowledgeId))]],
  );
  const fading = await findFading(tx, tenantId, now, bounds.groups);
  const expired = await findExpired(tx, tenantId, now, bounds.proposals);
  const uncited = await findUncited(tx, tenantId, now, bounds.proposals);
  const full = [duplicates, contradictions, fading].some(({ length }) => length >= bounds.groups);
  return {
    duplicates,
    contradictions,
    fading,
    expired,
    uncited,
    disputedBefore: new Set(asked.rows.map(({ question }) => question)),
    disputed: new Set(asked.rows.filter(({ open }) => open).map(({ id }) => id)),
    more: full,
  };
}

/** Believed versions that share a signature or key although they belong to several facts, grouped by it. */
async function findTwins(
  tx: Tx,
  tenantId: string,
  shared: 'signature' | 'fact_key',
  apart: 'v.knowledge_id' | 'v.signature',
  limit: number,
): Promise<TwinVersion[][]> {
  const { rows } = await tx.query<TwinRow>(
    `WITH twin AS (
       SELECT v.${shared} AS twin FROM knowledge.fact_versions v
       WHERE v.tenant_id = $1 AND ${BELIEVED} AND v.redacted_revision IS NULL AND v.${shared} IS NOT NULL
       GROUP BY 1 HAVING count(DISTINCT v.knowledge_id) > 1 AND count(DISTINCT ${apart}) > 1 ORDER BY 1 LIMIT $2
     )
     SELECT t.twin, v.knowledge_id, v.version, v.signature, v.lineage_trust, c.committed_at AS written_at,
       extract(epoch FROM lower(v.valid)) * 1000 AS "from", extract(epoch FROM upper(v.valid)) * 1000 AS until
     FROM twin t JOIN knowledge.fact_versions v ON v.tenant_id = $1 AND v.${shared} = t.twin AND ${BELIEVED}
     JOIN knowledge.revisions c ON c.revision = v.revision_from ORDER BY t.twin, v.knowledge_id, v.version`,
    [tenantId, limit],
  );
  return [...Map.groupBy(rows, ({ twin }) => twin).values()].map((group) => group.map(toTwin));
}

function toTwin(row: TwinRow): TwinVersion {
  return {
    knowledgeId: row.knowledge_id,
    version: row.version,
    signature: row.signature,
    trust: SourceType.parse(row.lineage_trust),
    valid: {
      from: row.from === null ? Number.NEGATIVE_INFINITY : Number(row.from),
      until: row.until === null ? Number.POSITIVE_INFINITY : Number(row.until),
    },
    writtenAt: row.written_at.getTime(),
  };
}

type FadingRow = {
  knowledge_id: string;
  version: number;
  layer: string;
  importance: number;
  written_at: Date;
  last_used_at: Date | null;
};

/**
 * All believed versions of facts that are old enough and low enough; the rule looks again. Beyond core facts
 * only what agents write fades.
 */
async function findFading(tx: Tx, tenantId: string, now: Date, limit: number): Promise<FadingVersion[][]> {
  const { rows } = await tx.query<FadingRow>(
    `WITH fact AS (
       SELECT v.knowledge_id FROM knowledge.fact_versions v JOIN knowledge.revisions c ON c.revision = v.revision_from
       ${ADJUSTED_NOW}
       WHERE v.tenant_id = $1 AND ${BELIEVED} AND v.redacted_revision IS NULL
       GROUP BY 1 HAVING bool_and(v.layer <> 'core' AND c.committed_at < $2::timestamptz - interval '30 days'
         AND coalesce(a.importance, v.importance) * 0.95 ^ (extract(epoch FROM $2::timestamptz - c.committed_at) / 86400) < 0.2)
       ORDER BY min(v.revision_from), 1
     ), unused AS (
       SELECT f.knowledge_id, u.last_used_at FROM fact f CROSS JOIN LATERAL (
         SELECT max(u.at) AS last_used_at FROM knowledge.fact_usage u WHERE u.tenant_id = $1 AND u.knowledge_id = f.knowledge_id
       ) u WHERE u.last_used_at IS NULL OR u.last_used_at < $2::timestamptz - interval '30 days' LIMIT $3
     )
     SELECT v.knowledge_id, v.version, v.layer, coalesce(a.importance, v.importance) AS importance, c.committed_at AS written_at, n.last_used_at
     FROM unused n JOIN knowledge.fact_versions v ON v.tenant_id = $1 AND v.knowledge_id = n.knowledge_id AND ${BELIEVED}
     JOIN knowledge.revisions c ON c.revision = v.revision_from
     ${ADJUSTED_NOW}
     ORDER BY v.knowledge_id, v.version`,
    [tenantId, now, limit],
  );
  const versions = rows.map((row) => ({
    knowledgeId: row.knowledge_id,
    version: row.version,
    layer: KnowledgeLayer.parse(row.layer),
    importance: row.importance,
    writtenAt: row.written_at.getTime(),
    lastUsedAt: row.last_used_at?.getTime() ?? null,
  }));
  return [...Map.groupBy(versions, ({ knowledgeId }) => knowledgeId).values()];
}

/** Facts of which nothing holds any more and nothing is to come, that ended in the last 90 days. */
async function findExpired(tx: Tx, tenantId: string, now: Date, limit: number): Promise<ExpiredFact[]> {
  const { rows } = await tx.query<{ knowledgeId: string; version: number; ended: Date }>(
    `SELECT v.knowledge_id AS "knowledgeId", v.version, v.valid_until AS ended FROM knowledge.fact_versions v
     WHERE v.tenant_id = $1 AND ${BELIEVED} AND v.valid_until < 'infinity' AND v.valid_until <= $2 AND v.valid_until > $2::timestamptz - interval '90 days'
       AND NOT EXISTS (SELECT FROM knowledge.fact_versions o WHERE o.tenant_id = $1 AND o.knowledge_id = v.knowledge_id
         AND o.revision_until = 9007199254740991 AND o.valid_until > v.valid_until)
     ORDER BY v.valid_until DESC, v.knowledge_id LIMIT $3`,
    [tenantId, now, limit],
  );
  return rows.map(({ knowledgeId, version, ended }) => ({ knowledgeId, version, endedAt: ended.getTime() }));
}

const READ_OFTEN = 20;

/** Believed versions that tasks read again and again in 90 days, and no answer ever cited. */
async function findUncited(tx: Tx, tenantId: string, now: Date, limit: number): Promise<UncitedFact[]> {
  const { rows } = await tx.query<UncitedFact>(
    `SELECT u.knowledge_id AS "knowledgeId", u.version, u.reads FROM (
       SELECT knowledge_id, version, count(DISTINCT task_id) AS reads FROM knowledge.fact_usage
       WHERE tenant_id = $1 AND at > $2::timestamptz - interval '90 days' GROUP BY 1, 2
       HAVING count(DISTINCT task_id) >= $4 AND bool_and(purpose = 'read')
     ) u JOIN knowledge.fact_versions v ON v.tenant_id = $1 AND v.knowledge_id = u.knowledge_id AND v.version = u.version AND ${BELIEVED}
     WHERE NOT EXISTS (SELECT FROM knowledge.relations r WHERE r.tenant_id = $1 AND r.upstream_id = u.knowledge_id AND r.upstream_version = u.version AND r.downstream_kind = 'answer')
     ORDER BY u.reads DESC, 1, 2 LIMIT $3`,
    [tenantId, now, limit, READ_OFTEN],
  );
  return rows;
}
