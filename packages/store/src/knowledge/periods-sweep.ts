import type { Tx } from '../database.ts';
import type { SupportName } from './cascade.ts';

export type TurnedVersion = SupportName & { readonly contentHash: string; readonly turn: 'began' | 'ended' };

export type Turned = { readonly versions: readonly TurnedVersion[]; readonly until: Date };

/**
 * Believed versions that began or ended by themselves since the last sweep, in order of time; of each kind at most
 * `limit`, plus those that share the last one's moment. Everything up to `until` is among them. Needs the knowledge
 * lock.
 */
export async function findTurned(tx: Tx, now: Date, limit: number): Promise<Turned> {
  const { rows } = await tx.query<TurnedVersion & { at: Date }>(
    `WITH last AS (SELECT swept_until FROM knowledge.sweeps WHERE name = 'periods'), turned AS (
       (SELECT tenant_id, knowledge_id, version, content_hash, 'began' AS turn, valid_from AS at FROM knowledge.fact_versions, last
        WHERE revision_until = 9007199254740991 AND valid_from > '-infinity' AND valid_from > swept_until AND valid_from <= $1
        ORDER BY valid_from FETCH FIRST ($2) ROWS WITH TIES)
       UNION ALL
       (SELECT tenant_id, knowledge_id, version, content_hash, 'ended', valid_until FROM knowledge.fact_versions, last
        WHERE revision_until = 9007199254740991 AND valid_until < 'infinity' AND valid_until > swept_until AND valid_until <= $1
        ORDER BY valid_until FETCH FIRST ($2) ROWS WITH TIES)
     )
     SELECT tenant_id AS "tenantId", knowledge_id AS "knowledgeId", version, content_hash AS "contentHash", turn, at FROM turned ORDER BY at`,
    [now, limit],
  );
  // A kind that was cut is complete only up to its last moment; whatever the other one has beyond that is left to the
  // next sweep.
  const horizons = (['began', 'ended'] as const).flatMap((turn) => {
    const found = rows.filter((row) => row.turn === turn);
    const last = found.at(-1);
    return last === undefined || found.length < limit ? [] : [last.at.getTime()];
  });
  const until = new Date(Math.min(now.getTime(), ...horizons));
  return { versions: rows.filter(({ at }) => at <= until), until };
}

export async function saveSweep(tx: Tx, until: Date): Promise<void> {
  await tx.query(`UPDATE knowledge.sweeps SET swept_until = greatest(swept_until, $1) WHERE name = 'periods'`, [until]);
}
