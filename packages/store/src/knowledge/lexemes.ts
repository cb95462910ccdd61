import { hash } from 'node:crypto';
import { TERM_NORMALISER, toSearchTerms } from '@cleanslate/domain';
import type { Tx } from '../database.ts';

/** Longest text of a PostgreSQL tsvector; longer ones are found by their beginning. */
const MAX_TERMS = 5_000;

/** A statement's terms as the text of a tsvector, each after the hash of its tenant, and how many terms it has. */
export function toLexemes(tenantId: string, statement: string): { terms: string; length: number } {
  const prefix = `${hash('md5', tenantId).slice(0, 6)}.`;
  const terms: string[] = [];
  let length = 0;
  for (const [term, count] of toSearchTerms(statement)) {
    if (terms.length === MAX_TERMS) break;
    // Terms contain only letters and digits: nothing to escape.
    terms.push(`'${prefix}${term}':1${toLabel(count)}`);
    length += count;
  }
  return { terms: terms.join(' '), length };
}

/** Weight labels stand for the number of occurrences; `knowledge.search_text` reads them back. */
function toLabel(count: number): string {
  if (count >= 5) return 'A';
  if (count >= 3) return 'B';
  return count === 2 ? 'C' : '';
}

type Uncut = { fact_seq: number; tenant_id: string; statement: string; revision_from: number };

/** Cuts the terms of versions that have none by this normaliser, at most `limit`. Returns how many there were. */
export async function cutMissingTerms(tx: Tx, limit: number): Promise<number> {
  const { rows } = await tx.query<Uncut>(
    `SELECT v.fact_seq, v.tenant_id, v.statement, v.revision_from FROM knowledge.fact_versions v
     WHERE NOT EXISTS (SELECT FROM knowledge.fact_lexemes l WHERE l.fact_seq = v.fact_seq AND l.normaliser = $1)
     ORDER BY v.fact_seq LIMIT $2`,
    [TERM_NORMALISER, limit],
  );
  if (rows.length === 0) return 0;
  const records = rows.map(({ statement, ...row }) => ({ ...row, ...toLexemes(row.tenant_id, statement) }));
  await tx.query(
    `INSERT INTO knowledge.fact_lexemes (fact_seq, tenant_id, revision_from, length, terms, normaliser)
     SELECT fact_seq, tenant_id, revision_from, length, terms::tsvector, $2
     FROM json_to_recordset($1) AS x (fact_seq int8, tenant_id text, revision_from int8, length int, terms text)
     ON CONFLICT (fact_seq) DO UPDATE SET terms = excluded.terms, length = excluded.length, normaliser = excluded.normaliser`,
    [JSON.stringify(records), TERM_NORMALISER],
  );
  return rows.length;
}
