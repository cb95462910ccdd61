import type { Tx } from '../database.ts';

export type CountedVersion = { readonly tenantId: string; readonly revision: number; readonly terms: number };

/** Adds new versions to what their tenants have as of the batch's last revision. Needs the knowledge lock. */
export async function growCorpus(tx: Tx, versions: readonly CountedVersion[]): Promise<void> {
  const sums = new Map<string, { revision: number; versions: number; terms: number }>();
  for (const { tenantId, revision, terms } of versions) {
    const sum = sums.get(tenantId) ?? { revision: 0, versions: 0, terms: 0 };
    sums.set(tenantId, {
      revision: Math.max(sum.revision, revision),
      versions: sum.versions + 1,
      terms: sum.terms + terms,
    });
  }
  await tx.query(
    `INSERT INTO knowledge.corpus_sizes (tenant_id, revision, versions, terms)
     SELECT x.tenant_id, x.revision, x.versions + coalesce(last.versions, 0), x.terms + coalesce(last.terms, 0)
     FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) AS x (tenant_id, revision, versions, terms)
     LEFT JOIN LATERAL (
       SELECT c.versions, c.terms FROM knowledge.corpus_sizes c WHERE c.tenant_id = x.tenant_id ORDER BY c.revision DESC LIMIT 1
     ) last ON true`,
    [
      [...sums.keys()],
      [...sums.values()].map(({ revision }) => revision),
      [...sums.values()].map((sum) => sum.versions),
      [...sums.values()].map(({ terms }) => terms),
    ],
  );
}
