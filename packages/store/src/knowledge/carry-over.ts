import type { DraftVersion } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import type { BatchClock } from './write-facts.ts';

/**
 * The remainder of a closed version keeps its parents and its changed weight: the rest of a fact is still that fact.
 */
export async function carryOver(tx: Tx, versions: readonly DraftVersion[], clock: BatchClock): Promise<void> {
  const remainders = versions.filter((version) => version.remainderOf !== null);
  if (remainders.length === 0) return;
  await tx.query(
    `WITH remainder AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::int8[]) AS x (tenant_id, knowledge_id, old, new, revision)
     ), parents AS (
       INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
       SELECT r.tenant_id, r.kind, 'fact', r.downstream_id, x.new, r.upstream_id, r.upstream_version, int8range(x.revision, NULL)
       FROM remainder x JOIN knowledge.relations r ON r.tenant_id = x.tenant_id AND r.downstream_kind = 'fact'
         AND r.downstream_id = x.knowledge_id AND r.downstream_version = x.old AND upper_inf(r.revisions)
       ON CONFLICT DO NOTHING
     )
     INSERT INTO knowledge.adjustments (tenant_id, knowledge_id, version, weight, importance, reason, source_message_id, revisions)
     SELECT a.tenant_id, a.knowledge_id, x.new, a.weight, a.importance, a.reason, a.source_message_id, int8range(x.revision, NULL)
     FROM remainder x JOIN knowledge.adjustments a ON a.tenant_id = x.tenant_id AND a.knowledge_id = x.knowledge_id AND a.version = x.old AND upper_inf(a.revisions)`,
    [
      remainders.map((version) => version.tenantId),
      remainders.map((version) => version.knowledgeId),
      remainders.map((version) => version.remainderOf),
      remainders.map((version) => version.version),
      remainders.map((version) => clock.firstRevision + version.wave),
    ],
  );
}
