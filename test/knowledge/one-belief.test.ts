import { withTransaction } from '@cleanslate/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFacts } from '../../services/knowledge-maintainer/src/handlers/import-facts.ts';
import { BACKENDS, type KnowledgeDatabase, openBackend } from './knowledge-database.ts';

let at: KnowledgeDatabase;
const COPIES = 20_000;

/** The rows of the imported fact once more, changed by these columns; past every trigger, as nobody else can. */
async function copy(changes: string, from = 1, to = 1): Promise<void> {
  await at.admin.query(
    `INSERT INTO knowledge.fact_versions OVERRIDING SYSTEM VALUE
     SELECT (jsonb_populate_record(v, jsonb_build_object('fact_seq', nextval('knowledge.fact_versions_fact_seq_seq')) || ${changes})).*
     FROM knowledge.fact_versions v, generate_series(${from}, ${to}) n WHERE v.knowledge_id = 'rule' AND v.version = 1 AND v.tenant_id = 'acme'`,
  );
}

describe.each(BACKENDS)('no two versions of a fact hold for one moment in one belief, on %s', (backend) => {
  beforeAll(async () => {
    at = await openBackend(backend);
    const period = { statement: 'Payment is due within 30 days.', value: '30', validFrom: null, validUntil: null };
    await importFacts(at.database, {
      tenantId: 'acme',
      requestId: 'import',
      data: {
        sourceRef: 'doc:rules',
        sourceType: 'internal_document',
        facts: [
          {
            knowledgeId: 'rule',
            knowledgeType: 'rule',
            subject: 'buyer',
            predicate: 'payment term',
            unit: 'days',
            polarity: 'positive',
            modality: 'must',
            tags: [],
            periods: [period],
          },
        ],
      },
    });
  });
  afterAll(() => at[Symbol.asyncDispose]());

  it('whoever writes them; another belief may hold beside the one', async () => {
    await expect(copy(`'{"version": 2}'`)).rejects.toMatchObject({ constraint: 'fact_versions_one_belief' });
    await at.admin.query(
      `UPDATE knowledge.fact_versions SET revisions = int8range(lower(revisions), lower(revisions) + 1) WHERE knowledge_id = 'rule'`,
    );
    await copy(`jsonb_build_object('version', 2, 'revisions', int8range(upper(v.revisions), NULL))`);
  });

  it('of one fact: another fact, and the same id of another tenant, hold beside it', async () => {
    await copy(`'{"knowledge_id": "other"}'`);
    await copy(`'{"tenant_id": "other"}'`);
    await expect(copy(`'{"tenant_id": "other", "version": 2}'`)).rejects.toMatchObject({
      constraint: 'fact_versions_one_belief',
    });
  });

  it('and no look-up of a fact by its ids walks the index of that rule, which answers sixty times slower', async () => {
    await copy(`jsonb_build_object('knowledge_id', 'rule-' || n)`, 1, COPIES);
    await at.admin.query('ANALYZE knowledge.fact_versions');
    const plan = await withTransaction(at.database, { role: 'cleanslate_maintainer' }, async (tx) => {
      const { rows } = await tx.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT v.* FROM (SELECT 'acme' || n AS tenant_id, 'rule-' || n AS id FROM generate_series(1, 10) n) x
         JOIN knowledge.fact_versions v ON v.tenant_id = x.tenant_id AND v.knowledge_id = x.id AND upper_inf(v.revisions)`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('fact_versions_tenant_id_knowledge_id_version_key');
  });
});
