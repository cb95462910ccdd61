import { Assertion, FactView } from '@cleanslate/contracts';

/** The weight that feedback left a version `v`: that of its adjustment `a`, joined as of a pin or as of now. */
export const WEIGHT = 'coalesce(a.weight, v.weight)';

/** Columns of a version as readers see it; `v` is the version, `a` its adjustment as of the pin (`toAdjustedJoin`). */
export const FACT_COLUMNS = `v.tenant_id, v.knowledge_id, v.version, v.statement, v.subject, v.predicate, v.value, v.unit, v.polarity, v.modality,
  v.knowledge_type, v.layer, v.source_type, v.source_ref, ${WEIGHT} AS weight, v.confidence,
  coalesce(a.importance, v.importance) AS importance, v.access_level, v.sensitivity, v.content_hash, v.tags,
  lower(v.valid) AS valid_from, upper(v.valid) AS valid_until, lower(v.revisions) AS revision_from, upper(v.revisions) AS revision_until`;

const ADJUSTED = `LEFT JOIN knowledge.adjustments a
    ON a.tenant_id = v.tenant_id AND a.knowledge_id = v.knowledge_id AND a.version = v.version`;

/**
 * The adjustment `a` of a version `v` as of a revision, the given parameter: every reader of a weight uses this, so
 * that agents who check each other agree.
 */
export function toAdjustedJoin(revision: string): string {
  return `${ADJUSTED} AND a.revisions @> ${revision}::bigint`;
}

/** The same as of the last revision: for writers of the next one, and for views of the present. */
export const ADJUSTED_NOW = `${ADJUSTED} AND upper_inf(a.revisions)`;

/** Who erased a version's content, when and why; null if it was not erased. */
export const REDACTED = `CASE WHEN v.redacted_revision IS NOT NULL THEN (
    SELECT json_build_object('redactionId', x.redaction_id, 'at', to_char(x.redacted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'by', x.redacted_by, 'reason', x.reason)
    FROM knowledge.redactions x WHERE x.tenant_id = v.tenant_id AND x.knowledge_id = v.knowledge_id AND x.revision = v.redacted_revision) END AS redacted`;

/** What is open about a version at a pin whose revision is the given parameter. */
export function toDoubtColumns(revision: string): string {
  return `(SELECT json_agg(json_build_object('cause', m.cause_id || '@' || m.cause_version, 'kind', m.cause, 'since', lower(m.revisions)) ORDER BY m.cause_id, m.cause_version)
     FROM knowledge.marks m WHERE m.tenant_id = v.tenant_id AND m.downstream_kind = 'fact' AND m.downstream_id = v.knowledge_id
       AND m.downstream_version = v.version AND m.revisions @> ${revision}::bigint) AS marks,
  (SELECT json_agg(d.dispute_id ORDER BY d.dispute_id) FROM knowledge.disputes d
     WHERE d.tenant_id = v.tenant_id AND d.knowledge_id = v.knowledge_id AND d.revisions @> ${revision}::bigint) AS disputes`;
}

export type FactRow = {
  tenant_id: string;
  knowledge_id: string;
  version: number;
  statement: string;
  subject: string | null;
  predicate: string | null;
  value: string | null;
  unit: string | null;
  polarity: string | null;
  modality: string | null;
  knowledge_type: string;
  layer: string;
  source_type: string;
  source_ref: string;
  weight: number;
  confidence: number;
  importance: number;
  access_level: string;
  sensitivity: string;
  content_hash: string;
  tags: string[];
  valid_from: Date | null;
  valid_until: Date | null;
  revision_from: number;
  revision_until: number | null;
  marks?: unknown;
  redacted?: unknown;
  disputes?: unknown;
};

/**
 * A row as the contract's view. Throws if the row contains what the contract doesn't know: a newer writer than this
 * reader.
 */
export function toFactView(row: FactRow): FactView {
  return FactView.parse({
    tenantId: row.tenant_id,
    knowledgeId: row.knowledge_id,
    version: row.version,
    statement: row.statement,
    assertion: toAssertion(row),
    knowledgeType: row.knowledge_type,
    layer: row.layer,
    sourceType: row.source_type,
    sourceRef: row.source_ref,
    weight: row.weight,
    confidence: row.confidence,
    importance: row.importance,
    accessLevel: row.access_level,
    sensitivity: row.sensitivity,
    contentHash: row.content_hash,
    tags: row.tags,
    validFrom: row.valid_from?.toISOString() ?? null,
    validUntil: row.valid_until?.toISOString() ?? null,
    revisionFrom: row.revision_from,
    revisionUntil: row.revision_until,
    ...(row.marks ? { marks: row.marks } : {}),
    ...(row.disputes ? { disputes: row.disputes } : {}),
    ...(row.redacted ? { redacted: row.redacted } : {}),
  });
}

/**
 * A version that is believed at the reader's pin: that its belief ended later is not known there, and the same question
 * must get the same answer.
 */
export function toViewAtPin(row: FactRow): FactView {
  return { ...toFactView(row), revisionUntil: null };
}

export function toAssertion(
  row: Pick<FactRow, 'subject' | 'predicate' | 'value' | 'unit' | 'polarity' | 'modality'>,
): Assertion | null {
  if (row.subject === null) return null;
  const { subject, predicate, value, unit, polarity, modality } = row;
  return Assertion.parse({ subject, predicate, value, unit, polarity, modality });
}
