import { AccessLevel, KnowledgeLayer, KnowledgeType, Sensitivity, SourceType } from '@cleanslate/contracts';
import type { BelievedVersion, FactBody, FactState } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { ADJUSTED_NOW, type FactRow, toAssertion, WEIGHT } from './fact-row.ts';

export type FactLookup = {
  readonly tenantId: string;
  /** Known or about to be used: a retracted fact continues the numbers of its versions. */
  readonly knowledgeIds: readonly string[];
  readonly factKeys: readonly string[];
  /** Of statements without an assertion. */
  readonly signatures: readonly string[];
};

type StateRow = {
  fact_tenant: string;
  fact_id: string;
  last_version: number | null;
  present_weight: number | null;
} & { [K in keyof Believed]: Believed[K] | null };
type Believed = Omit<FactRow, 'revision_from' | 'revision_until'> & {
  fact_key: string | null;
  signature: string;
  lineage: string[];
  lineage_trust: string;
  source_message_id: string;
  source_time: Date;
  task_id: string | null;
  candidate_id: string | null;
  validator_score: number | null;
};

/** What is believed about every fact that these ids, keys and signatures name, with the next free version number. */
export async function findFactStates(tx: Tx, lookups: readonly FactLookup[]): Promise<FactState[]> {
  const flat = (pick: (lookup: FactLookup) => readonly string[]) => {
    const pairs = lookups.flatMap((lookup) => [...new Set(pick(lookup))].map((id) => [lookup.tenantId, id] as const));
    return [pairs.map(([tenant]) => tenant), pairs.map(([, id]) => id)] as const;
  };
  const { rows } = await tx.query<StateRow>(
    `WITH wanted AS (
       SELECT x.tenant_id, x.id AS knowledge_id FROM unnest($1::text[], $2::text[]) AS x (tenant_id, id)
       UNION SELECT v.tenant_id, v.knowledge_id FROM unnest($3::text[], $4::text[]) AS x (tenant_id, id)
         JOIN knowledge.fact_versions v ON v.tenant_id = x.tenant_id AND v.fact_key = x.id AND upper_inf(v.revisions)
       UNION SELECT v.tenant_id, v.knowledge_id FROM unnest($5::text[], $6::text[]) AS x (tenant_id, id)
         JOIN knowledge.fact_versions v ON v.tenant_id = x.tenant_id AND v.signature = x.id AND v.fact_key IS NULL AND upper_inf(v.revisions)
     )
     SELECT w.tenant_id AS fact_tenant, w.knowledge_id AS fact_id, m.last_version, v.*, ${WEIGHT} AS present_weight, lower(v.valid) AS valid_from, upper(v.valid) AS valid_until
     FROM wanted w
     CROSS JOIN LATERAL (SELECT max(version) AS last_version FROM knowledge.fact_versions f WHERE f.tenant_id = w.tenant_id AND f.knowledge_id = w.knowledge_id) m
     LEFT JOIN knowledge.fact_versions v ON v.tenant_id = w.tenant_id AND v.knowledge_id = w.knowledge_id AND upper_inf(v.revisions)
     ${ADJUSTED_NOW}
     ORDER BY 1, 2, v.version`,
    [...flat((l) => l.knowledgeIds), ...flat((l) => l.factKeys), ...flat((l) => l.signatures)],
  );
  return toStates(rows);
}

/**
 * What a fact said when it was archived, as if it were believed: its own versions, not those that another fact took
 * over. Empty if it isn't archived.
 */
export async function findArchived(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
): Promise<BelievedVersion<FactBody>[]> {
  const { rows } = await tx.query<Believed>(
    `SELECT v.*, lower(v.valid) AS valid_from, upper(v.valid) AS valid_until FROM knowledge.archived a
     JOIN knowledge.fact_versions v ON v.tenant_id = a.tenant_id AND v.knowledge_id = a.knowledge_id AND v.version = a.version
     WHERE a.tenant_id = $1 AND a.knowledge_id = $2 AND upper_inf(a.revisions) AND v.redacted_revision IS NULL ORDER BY v.version`,
    [tenantId, knowledgeId],
  );
  return rows.map(toBelieved);
}

function toStates(rows: readonly StateRow[]): FactState[] {
  type Growing = FactState & {
    readonly believed: BelievedVersion<FactBody>[];
    readonly weights: Map<number, number>;
  };
  const states = new Map<string, Growing>();
  for (const row of rows) {
    const id = `${row.fact_tenant}/${row.fact_id}`;
    const state: Growing = states.get(id) ?? {
      tenantId: row.fact_tenant,
      knowledgeId: row.fact_id,
      nextVersion: (row.last_version ?? 0) + 1,
      believed: [],
      weights: new Map(),
    };
    states.set(id, state);
    if (row.version === null) continue;
    state.believed.push(toBelieved(row as Believed));
    if (row.present_weight !== null) state.weights.set(row.version, row.present_weight);
  }
  return [...states.values()];
}

function toBelieved(row: Believed): BelievedVersion<FactBody> {
  return {
    version: row.version,
    valid: {
      from: row.valid_from?.getTime() ?? Number.NEGATIVE_INFINITY,
      until: row.valid_until?.getTime() ?? Number.POSITIVE_INFINITY,
    },
    body: {
      statement: row.statement,
      assertion: toAssertion(row),
      factKey: row.fact_key,
      signature: row.signature,
      contentHash: row.content_hash,
      knowledgeType: KnowledgeType.parse(row.knowledge_type),
      layer: KnowledgeLayer.parse(row.layer),
      sourceType: SourceType.parse(row.source_type),
      sourceRef: row.source_ref,
      lineage: { roots: row.lineage, trust: SourceType.parse(row.lineage_trust) },
      sourceMessageId: row.source_message_id,
      sourceTime: row.source_time.getTime(),
      taskId: row.task_id,
      candidateId: row.candidate_id,
      weight: row.weight,
      confidence: row.confidence,
      importance: row.importance,
      validatorScore: row.validator_score,
      accessLevel: AccessLevel.parse(row.access_level),
      sensitivity: Sensitivity.parse(row.sensitivity),
      tags: row.tags,
    },
  };
}
