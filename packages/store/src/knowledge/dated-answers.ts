import { findDatedDoubt, type MarkCause, type StandingVersion, type Support } from '@cleanslate/domain';
import type { Tx } from '../database.ts';

type SupportName = { readonly tenantId: string; readonly knowledgeId: string; readonly version: number };
type PairRow = SupportName & { readonly taskId: string; readonly holdsAt: Date };

/**
 * Marks of answers about a moment of their own: each is judged at that moment, so that a rule which changed since casts
 * no doubt on an answer about last year. `believedOf` returns what is believed now of a ground's fact. Returns how many
 * marks were set and cleared.
 */
export async function updateDatedAnswers(
  tx: Tx,
  supports: readonly (Support & SupportName)[],
  believedOf: (support: SupportName) => readonly StandingVersion[],
  revision: number,
): Promise<{ set: number; cleared: number }> {
  const pairs = await findPairs(tx, supports);
  const named = new Map(supports.map((support) => [keyOf(support), support]));
  const doubts: (PairRow & { cause: MarkCause })[] = [];
  const sound: PairRow[] = [];
  for (const pair of pairs) {
    const support = named.get(keyOf(pair));
    if (support === undefined) continue;
    const cause = findDatedDoubt(support, believedOf(support), pair.holdsAt.getTime());
    if (cause === null) sound.push(pair);
    else doubts.push({ ...pair, cause });
  }
  return { set: await setPairs(tx, doubts, revision), cleared: await clearPairs(tx, sound, revision) };
}

function keyOf({ tenantId, knowledgeId, version }: SupportName): string {
  return `${tenantId}/${knowledgeId}@${version}`;
}

/** Each dated answer with each of these versions that it rests on, at any depth. */
async function findPairs(tx: Tx, supports: readonly SupportName[]): Promise<PairRow[]> {
  const { rows } = await tx.query<PairRow>(
    `WITH RECURSIVE down AS (
       SELECT x.tenant_id COLLATE "C" AS tenant_id, x.id COLLATE "C" AS cause_id, x.version AS cause_version, r.downstream_kind, r.downstream_id, r.downstream_version
       FROM unnest($1::text[], $2::text[], $3::int[]) AS x (tenant_id, id, version)
       JOIN knowledge.relations r ON r.tenant_id = x.tenant_id AND r.upstream_id = x.id AND r.upstream_version = x.version
       UNION
       SELECT d.tenant_id, d.cause_id, d.cause_version, r.downstream_kind, r.downstream_id, r.downstream_version
       FROM down d JOIN knowledge.relations r ON r.tenant_id = d.tenant_id AND r.upstream_id = d.downstream_id AND r.upstream_version = d.downstream_version
       WHERE d.downstream_kind = 'fact'
     )
     SELECT d.tenant_id AS "tenantId", d.cause_id AS "knowledgeId", d.cause_version AS version, a.task_id AS "taskId", a.holds_at AS "holdsAt"
     FROM down d JOIN knowledge.answers a ON a.tenant_id = d.tenant_id AND a.task_id = d.downstream_id
     WHERE d.downstream_kind = 'answer' AND a.holds_at IS NOT NULL`,
    columnsOf(supports),
  );
  return rows;
}

async function setPairs(
  tx: Tx,
  doubts: readonly (PairRow & { cause: MarkCause })[],
  revision: number,
): Promise<number> {
  if (doubts.length === 0) return 0;
  const { rowCount } = await tx.query(
    `INSERT INTO knowledge.marks (tenant_id, downstream_kind, downstream_id, downstream_version, cause_id, cause_version, cause, revisions)
     SELECT x.tenant_id, 'answer', x.task_id, 1, x.id, x.version, x.cause, int8range($6, NULL)
     FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[]) AS x (tenant_id, id, version, task_id, cause)
     ON CONFLICT (tenant_id, downstream_kind, downstream_id, downstream_version, cause_id, cause_version) WHERE upper_inf(revisions) DO NOTHING`,
    [...columnsOf(doubts), doubts.map(({ taskId }) => taskId), doubts.map(({ cause }) => cause), revision],
  );
  return rowCount ?? 0;
}

async function clearPairs(tx: Tx, sound: readonly PairRow[], revision: number): Promise<number> {
  if (sound.length === 0) return 0;
  const { rowCount } = await tx.query(
    `UPDATE knowledge.marks m SET revisions = int8range(lower(m.revisions), $5)
     FROM unnest($1::text[], $2::text[], $3::int[], $4::text[]) AS x (tenant_id, id, version, task_id)
     WHERE m.tenant_id = x.tenant_id AND m.downstream_kind = 'answer' AND m.downstream_id = x.task_id AND m.cause_id = x.id AND m.cause_version = x.version
       AND upper_inf(m.revisions)`,
    [...columnsOf(sound), sound.map(({ taskId }) => taskId), revision],
  );
  return rowCount ?? 0;
}

function columnsOf(names: readonly SupportName[]) {
  return [
    names.map(({ tenantId }) => tenantId),
    names.map(({ knowledgeId }) => knowledgeId),
    names.map(({ version }) => version),
  ];
}
