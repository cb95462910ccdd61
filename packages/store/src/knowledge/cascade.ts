import {
  type BelievedVersion,
  findDoubt,
  type MarkCause,
  type StandingVersion,
  type Support,
} from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { updateDatedAnswers } from './dated-answers.ts';

export type FactName = { readonly tenantId: string; readonly knowledgeId: string };
export type SupportName = FactName & { readonly version: number };

/**
 * Updates the marks after facts changed: what rests on a version that no longer stands is marked, at any depth of the
 * graph; the marks of one that stands again are cleared. `changed`: facts with new, closed, begun or ended versions;
 * `derived`: versions with new parents. Needs the knowledge lock; the marks are believed from `revision` on. Returns
 * how many marks were set and cleared.
 */
export async function updateMarks(
  tx: Tx,
  changed: readonly FactName[],
  derived: readonly SupportName[],
  now: Date,
  revision: number,
): Promise<{ set: number; cleared: number }> {
  const supports = await findSupports(tx, changed, derived);
  if (supports.length === 0) return { set: 0, cleared: 0 };
  const believed = await findStanding(tx, supports);
  const doubts: (SupportName & { cause: MarkCause })[] = [];
  const sound: SupportName[] = [];
  for (const support of supports) {
    const cause = findDoubt(support, believed.get(keyOf(support)) ?? [], now.getTime());
    if (cause === null) sound.push(support);
    else doubts.push({ ...support, cause });
  }
  const dated = await updateDatedAnswers(tx, supports, (support) => believed.get(keyOf(support)) ?? [], revision);
  return {
    set: dated.set + (await setMarks(tx, doubts, revision)),
    cleared: dated.cleared + (await clearMarks(tx, sound, revision)),
  };
}

function keyOf({ tenantId, knowledgeId }: FactName): string {
  return `${tenantId}/${knowledgeId}`;
}

type SupportRow = SupportName & {
  signature: string;
  valid_from: Date | null;
  valid_until: Date | null;
  written_at: Date;
};

/** Versions of changed facts on which something rests, and everything that the newly derived ones rest on. */
async function findSupports(
  tx: Tx,
  changed: readonly FactName[],
  derived: readonly SupportName[],
): Promise<(Support & FactName)[]> {
  const { rows } = await tx.query<SupportRow>(
    `WITH RECURSIVE up AS (
       SELECT x.tenant_id COLLATE "C" AS tenant_id, x.id COLLATE "C" AS id, x.version FROM unnest($3::text[], $4::text[], $5::int[]) AS x (tenant_id, id, version)
       UNION
       SELECT u.tenant_id, r.upstream_id, r.upstream_version FROM up u
       JOIN knowledge.relations r ON r.tenant_id = u.tenant_id AND r.downstream_kind = 'fact' AND r.downstream_id = u.id AND r.downstream_version = u.version
     ), named AS (
       SELECT DISTINCT r.tenant_id, r.upstream_id AS id, r.upstream_version AS version
       FROM unnest($1::text[], $2::text[]) AS x (tenant_id, id) JOIN knowledge.relations r ON r.tenant_id = x.tenant_id AND r.upstream_id = x.id
       UNION SELECT tenant_id, id, version FROM up
     )
     SELECT v.tenant_id AS "tenantId", v.knowledge_id AS "knowledgeId", v.version, v.signature,
       lower(v.valid) AS valid_from, upper(v.valid) AS valid_until, c.committed_at AS written_at
     FROM named n JOIN knowledge.fact_versions v ON v.tenant_id = n.tenant_id AND v.knowledge_id = n.id AND v.version = n.version
     JOIN knowledge.revisions c ON c.revision = v.revision_from`,
    [
      changed.map(({ tenantId }) => tenantId),
      changed.map(({ knowledgeId }) => knowledgeId),
      derived.map(({ tenantId }) => tenantId),
      derived.map(({ knowledgeId }) => knowledgeId),
      derived.map(({ version }) => version),
    ],
  );
  return rows.map(({ valid_from, valid_until, written_at, ...row }) => ({
    ...row,
    valid: toRange(valid_from, valid_until),
    writtenAt: written_at.getTime(),
  }));
}

function toRange(from: Date | null, until: Date | null): BelievedVersion<unknown>['valid'] {
  return { from: from?.getTime() ?? Number.NEGATIVE_INFINITY, until: until?.getTime() ?? Number.POSITIVE_INFINITY };
}

/**
 * What is believed now of the facts that these versions belong to. What was archived is not refuted, so it still
 * stands.
 */
async function findStanding(tx: Tx, facts: readonly FactName[]): Promise<ReadonlyMap<string, StandingVersion[]>> {
  const { rows } = await tx.query<Omit<SupportRow, 'written_at'>>(
    `SELECT v.tenant_id AS "tenantId", v.knowledge_id AS "knowledgeId", v.version, v.signature, lower(v.valid) AS valid_from, upper(v.valid) AS valid_until
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS x (tenant_id, id)) f
     JOIN knowledge.fact_versions v ON v.tenant_id = f.tenant_id AND v.knowledge_id = f.id AND (upper_inf(v.revisions) OR EXISTS (
       SELECT FROM knowledge.archived a WHERE a.tenant_id = v.tenant_id AND a.knowledge_id = v.knowledge_id AND a.version = v.version AND upper_inf(a.revisions)))`,
    [facts.map(({ tenantId }) => tenantId), facts.map(({ knowledgeId }) => knowledgeId)],
  );
  const believed = new Map<string, StandingVersion[]>();
  for (const { valid_from, valid_until, ...row } of rows) {
    const list = believed.get(keyOf(row)) ?? [];
    list.push({ version: row.version, signature: row.signature, valid: toRange(valid_from, valid_until) });
    believed.set(keyOf(row), list);
  }
  return believed;
}

/** Answers about a moment of their own are judged at that moment, not now: `updateDatedAnswers`. */
const isDated = (row: string) =>
  `${row}.downstream_kind = 'answer' AND EXISTS (SELECT FROM knowledge.answers a WHERE a.tenant_id = ${row}.tenant_id AND a.task_id = ${row}.downstream_id AND a.holds_at IS NOT NULL)`;

/** Marks everything that rests on these versions, each once for each cause; a cycle ends where it began. */
async function setMarks(
  tx: Tx,
  doubts: readonly (SupportName & { cause: MarkCause })[],
  revision: number,
): Promise<number> {
  if (doubts.length === 0) return 0;
  const { rowCount } = await tx.query(
    `WITH RECURSIVE doubt AS (
       SELECT tenant_id COLLATE "C" AS tenant_id, id COLLATE "C" AS id, version, cause FROM unnest($1::text[], $2::text[], $3::int[], $4::text[]) AS x (tenant_id, id, version, cause)
     ), down AS (
       SELECT d.tenant_id, d.id AS cause_id, d.version AS cause_version, d.cause, r.downstream_kind, r.downstream_id, r.downstream_version
       FROM doubt d JOIN knowledge.relations r ON r.tenant_id = d.tenant_id AND r.upstream_id = d.id AND r.upstream_version = d.version
       UNION
       SELECT d.tenant_id, d.cause_id, d.cause_version, d.cause, r.downstream_kind, r.downstream_id, r.downstream_version
       FROM down d JOIN knowledge.relations r ON r.tenant_id = d.tenant_id AND r.upstream_id = d.downstream_id AND r.upstream_version = d.downstream_version
       WHERE d.downstream_kind = 'fact'
     )
     INSERT INTO knowledge.marks (tenant_id, downstream_kind, downstream_id, downstream_version, cause_id, cause_version, cause, revisions)
     SELECT d.tenant_id, d.downstream_kind, d.downstream_id, d.downstream_version, d.cause_id, d.cause_version, d.cause, int8range($5, NULL)
     FROM down d
     WHERE NOT (d.downstream_kind = 'fact' AND d.downstream_id = d.cause_id AND d.downstream_version = d.cause_version)
       AND NOT (${isDated('d')})
     ON CONFLICT (tenant_id, downstream_kind, downstream_id, downstream_version, cause_id, cause_version) WHERE upper_inf(revisions) DO NOTHING`,
    [
      doubts.map(({ tenantId }) => tenantId),
      doubts.map(({ knowledgeId }) => knowledgeId),
      doubts.map(({ version }) => version),
      doubts.map(({ cause }) => cause),
      revision,
    ],
  );
  return rowCount ?? 0;
}

async function clearMarks(tx: Tx, sound: readonly SupportName[], revision: number): Promise<number> {
  if (sound.length === 0) return 0;
  const { rowCount } = await tx.query(
    `UPDATE knowledge.marks m SET revisions = int8range(lower(m.revisions), $4)
     FROM unnest($1::text[], $2::text[], $3::int[]) AS x (tenant_id, id, version)
     WHERE m.tenant_id = x.tenant_id AND m.cause_id = x.id AND m.cause_version = x.version AND upper_inf(m.revisions) AND NOT (${isDated('m')})`,
    [
      sound.map(({ tenantId }) => tenantId),
      sound.map(({ knowledgeId }) => knowledgeId),
      sound.map(({ version }) => version),
      revision,
    ],
  );
  return rowCount ?? 0;
}
