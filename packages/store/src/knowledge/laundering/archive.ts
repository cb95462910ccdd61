import type { DraftVersion } from '@cleanslate/domain';
import type { Tx } from '../../database.ts';
import type { BatchClock } from '../write-facts.ts';

export type NewArchived = {
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly version: number;
  /** The version that says the same; null: it faded. */
  readonly into: { readonly knowledgeId: string; readonly version: number } | null;
};

/** Closed versions that are not refuted. What rests on a merged one rests on its twin too, from `revision` on. */
export async function insertArchived(tx: Tx, archived: readonly NewArchived[], revision: number): Promise<void> {
  if (archived.length === 0) return;
  const names = [
    archived.map(({ tenantId }) => tenantId),
    archived.map(({ knowledgeId }) => knowledgeId),
    archived.map(({ version }) => version),
    archived.map(({ into }) => into?.knowledgeId ?? null),
    archived.map(({ into }) => into?.version ?? null),
    revision,
  ];
  await tx.query(
    `INSERT INTO knowledge.archived (tenant_id, knowledge_id, version, into_id, into_version, revisions)
     SELECT x.*, int8range($6, NULL) FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::int[]) AS x`,
    names,
  );
  await tx.query(
    `INSERT INTO knowledge.relations (tenant_id, kind, downstream_kind, downstream_id, downstream_version, upstream_id, upstream_version, revisions)
     SELECT r.tenant_id, r.kind, r.downstream_kind, r.downstream_id, r.downstream_version, x.into_id, x.into_version, int8range($6, NULL)
     FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::int[]) AS x (tenant_id, id, version, into_id, into_version)
     JOIN knowledge.relations r ON r.tenant_id = x.tenant_id AND r.upstream_id = x.id AND r.upstream_version = x.version
     WHERE x.into_id IS NOT NULL ON CONFLICT DO NOTHING`,
    names,
  );
}

/** Facts about which something is believed again are no longer archived. */
export async function endArchives(tx: Tx, versions: readonly DraftVersion[], clock: BatchClock): Promise<void> {
  // A first version can't have been archived before.
  const later = versions.filter(({ version }) => version > 1);
  if (later.length === 0) return;
  await tx.query(
    `UPDATE knowledge.archived a SET revisions = int8range(lower(a.revisions), x.revision)
     FROM (SELECT tenant_id, id, min(revision) AS revision FROM unnest($1::text[], $2::text[], $3::int8[]) AS u (tenant_id, id, revision) GROUP BY 1, 2) x
     WHERE a.tenant_id = x.tenant_id AND a.knowledge_id = x.id AND upper_inf(a.revisions)`,
    [
      later.map(({ tenantId }) => tenantId),
      later.map(({ knowledgeId }) => knowledgeId),
      later.map(({ wave }) => clock.firstRevision + wave),
    ],
  );
}
