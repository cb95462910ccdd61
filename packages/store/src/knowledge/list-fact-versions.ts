import type { FactView } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { FACT_COLUMNS, type FactRow, toAdjustedJoin, toFactView } from './fact-row.ts';

/** Sorts after every other character: the end of a range of prefixes. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * Every version of the facts whose assertion's subject begins like this, whenever it is in force or was believed, with
 * its weight as of the revision: the yardstick for reads at a pin.
 */
export async function listFactVersions(
  tx: Tx,
  tenantId: string,
  revision: number,
  { subjectPrefix, limit }: { readonly subjectPrefix: string; readonly limit: number },
): Promise<FactView[]> {
  const { rows } = await tx.query<FactRow>(
    `SELECT ${FACT_COLUMNS} FROM knowledge.fact_versions v ${toAdjustedJoin('$5')}
     WHERE v.tenant_id = $1 AND v.subject >= $2 AND v.subject < $2 || $3 AND v.redacted_revision IS NULL ORDER BY v.knowledge_id, v.version LIMIT $4`,
    [tenantId, subjectPrefix, LAST_CHARACTER, limit, revision],
  );
  return rows.map(toFactView);
}
