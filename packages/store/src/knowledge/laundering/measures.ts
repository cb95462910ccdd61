import type { MemoryMeasures } from '@cleanslate/contracts';
import type { Tx } from '../../database.ts';

const SAMPLE = 500;

/**
 * How well a tenant's memory serves, over 30 days. Write accuracy: of the last versions that agents wrote (at most
 * 500), those that nobody took back, and that no person contradicted for a moment for which they were said. Recall: of
 * completed tasks that read facts, those whose answer cites one of them.
 */
export async function measureMemory(tx: Tx, tenantId: string, now: Date): Promise<MemoryMeasures> {
  const written = await tx.query<{ sampled: number; wrong: number }>(
    `WITH sample AS (
       SELECT v.* FROM knowledge.fact_versions v JOIN knowledge.revisions c ON c.revision = v.revision_from
       WHERE v.tenant_id = $1 AND v.candidate_id IS NOT NULL AND c.committed_at > $2::timestamptz - interval '30 days' AND c.committed_at <= $2
       ORDER BY v.fact_seq DESC LIMIT ${SAMPLE}
     )
     SELECT count(*) AS sampled, count(*) FILTER (WHERE
       EXISTS (SELECT FROM knowledge.audit a WHERE a.tenant_id = s.tenant_id AND a.knowledge_id = s.knowledge_id AND a.version = s.version AND a.decision = 'retracted')
       OR EXISTS (SELECT FROM knowledge.fact_versions p WHERE p.tenant_id = s.tenant_id AND p.knowledge_id = s.knowledge_id AND p.source_type = 'human_confirmed'
         AND p.revision_from > s.revision_from AND p.signature <> s.signature AND p.valid && s.valid AND (lower(p.valid) IS NULL OR lower(p.valid) <= s.source_time))
     ) AS wrong FROM sample s`,
    [tenantId, now],
  );
  const used = await tx.query<{ tasks: number; hits: number }>(
    `SELECT count(*) AS tasks, count(*) FILTER (WHERE hit) AS hits FROM (
       SELECT r.task_id, EXISTS (SELECT FROM knowledge.relations e WHERE e.tenant_id = $1 AND e.downstream_kind = 'answer' AND e.downstream_id = r.task_id
         AND EXISTS (SELECT FROM knowledge.fact_usage u WHERE u.tenant_id = $1 AND u.task_id = r.task_id AND u.purpose = 'read'
           AND u.knowledge_id = e.upstream_id AND u.version = e.upstream_version)) AS hit
       FROM (SELECT DISTINCT task_id FROM knowledge.fact_usage WHERE tenant_id = $1 AND purpose = 'read' AND at > $2::timestamptz - interval '30 days' AND at <= $2) r
       JOIN knowledge.settlements s ON s.tenant_id = $1 AND s.task_id = r.task_id AND s.verdict <> 'held'
     ) t`,
    [tenantId, now],
  );
  const { sampled = 0, wrong = 0 } = written.rows[0] ?? {};
  const { tasks = 0, hits = 0 } = used.rows[0] ?? {};
  return {
    writeAccuracy: sampled === 0 ? null : (sampled - wrong) / sampled,
    recallHitRate: tasks === 0 ? null : hits / tasks,
    sampled,
    tasks,
  };
}
