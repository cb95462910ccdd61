import type { FactView, Pin } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { FACT_COLUMNS, type FactRow, toAdjustedJoin, toDoubtColumns, toViewAtPin } from './fact-row.ts';

/** Hard filters: what doesn't pass is not looked at, and takes no place from what does. */
export type SearchFilter = {
  readonly accessLevels?: readonly string[];
  readonly knowledgeTypes?: readonly string[];
  readonly idPrefix?: string;
  /** All of them. */
  readonly tags?: readonly string[];
};

const filterValues = (pin: Pin, filter: SearchFilter) => [
  pin.validAt,
  pin.revision,
  filter.accessLevels ?? null,
  filter.knowledgeTypes ?? null,
  filter.idPrefix ?? null,
  filter.tags ?? null,
];

/** Best versions at the pin by their words; the tenant is the transaction's. */
export async function searchText(
  tx: Tx,
  terms: readonly string[],
  pin: Pin,
  filter: SearchFilter,
  most: number,
): Promise<number[]> {
  if (terms.length === 0) return [];
  const { rows } = await tx.query<{ id: number }>(
    'SELECT fact_seq AS id FROM knowledge.search_text($1, $2, $3, $4, $5, $6, $7, $8)',
    [terms, ...filterValues(pin, filter), most],
  );
  return rows.map(({ id }) => id);
}

/**
 * Nearest versions at the pin in one space; the tenant is the transaction's. `exact`: the same rows whatever the state
 * of an index.
 */
export async function searchVectors(
  tx: Tx,
  query: { readonly space: string; readonly vector: string; readonly exact: boolean },
  pin: Pin,
  filter: SearchFilter,
  most: number,
): Promise<number[]> {
  const { rows } = await tx.query<{ id: number }>(
    'SELECT fact_seq AS id FROM knowledge.search_vectors($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
    [query.space, query.vector, query.exact, ...filterValues(pin, filter), most],
  );
  // If the index returned too few, the exact scan returns its rows again.
  return [...new Set(rows.map(({ id }) => id))].slice(0, most);
}

export type FoundFact = { readonly id: number; readonly fact: FactView; readonly sourceTime: number };

/** Found versions with their weight and marks as of the pin. */
export async function loadFound(tx: Tx, tenantId: string, pin: Pin, ids: readonly number[]): Promise<FoundFact[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<FactRow & { fact_seq: number; source_time: Date }>(
    `SELECT v.fact_seq, v.source_time, ${FACT_COLUMNS}, ${toDoubtColumns('$2')} FROM knowledge.fact_versions v
     ${toAdjustedJoin('$2')} WHERE v.tenant_id = $1 AND v.fact_seq = ANY ($3::int8[])`,
    [tenantId, pin.revision, ids],
  );
  return rows.map((row) => ({ id: row.fact_seq, fact: toViewAtPin(row), sourceTime: row.source_time.getTime() }));
}

/** How many versions the transaction's tenant had at a revision. */
export async function countVersionsAt(tx: Tx, tenantId: string, revision: number): Promise<number> {
  const { rows } = await tx.query<{ versions: number }>(
    'SELECT versions FROM knowledge.corpus_sizes WHERE tenant_id = $1 AND revision <= $2 ORDER BY revision DESC LIMIT 1',
    [tenantId, revision],
  );
  return rows[0]?.versions ?? 0;
}
