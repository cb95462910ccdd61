import { AccessLevel, SourceType } from '@cleanslate/contracts';
import type { Parent } from '@cleanslate/domain';
import type { Tx } from '../database.ts';

export type VersionName = { readonly tenantId: string; readonly knowledgeId: string; readonly version: number };

/** Where versions come from and who may read them, by `tenant/knowledgeId@version`; missing ones are left out. */
export async function findLineages(tx: Tx, versions: readonly VersionName[]): Promise<ReadonlyMap<string, Parent>> {
  if (versions.length === 0) return new Map();
  const { rows } = await tx.query<VersionName & { roots: string[]; trust: string; level: string }>(
    `SELECT v.tenant_id AS "tenantId", v.knowledge_id AS "knowledgeId", v.version, v.lineage AS roots, v.lineage_trust AS trust, v.access_level AS level
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::int[]) AS x (tenant_id, knowledge_id, version)) r
     JOIN knowledge.fact_versions v ON v.tenant_id = r.tenant_id AND v.knowledge_id = r.knowledge_id AND v.version = r.version`,
    [
      versions.map((version) => version.tenantId),
      versions.map((version) => version.knowledgeId),
      versions.map((version) => version.version),
    ],
  );
  return new Map(
    rows.map((row) => [
      `${row.tenantId}/${row.knowledgeId}@${row.version}`,
      { roots: row.roots, trust: SourceType.parse(row.trust), accessLevel: AccessLevel.parse(row.level) },
    ]),
  );
}
