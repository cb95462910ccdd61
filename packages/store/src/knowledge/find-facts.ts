import type { FactView, Pin } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import {
  FACT_COLUMNS,
  type FactRow,
  REDACTED,
  toAdjustedJoin,
  toDoubtColumns,
  toFactView,
  toViewAtPin,
} from './fact-row.ts';

// Row-level security lets indexes and statistics serve only leakproof operators: plain comparisons, neither LIKE nor
// those of ranges.
const LAST_CHARACTER = '\u{10ffff}';
const DEFAULT_LIMIT = 200;

const DOUBTS = toDoubtColumns('$3');
const FROM_AT_PIN = `FROM knowledge.fact_versions v ${toAdjustedJoin('$3')}`;
const AT_PIN =
  'v.valid_from <= $2::timestamptz AND v.valid_until > $2 AND v.revision_from <= $3 AND v.revision_until > $3';

/** The version in force at the pin, if any; of one that was redacted since, the tombstone. */
export async function findFactAt(
  tx: Tx,
  tenantId: string,
  pin: Pin,
  knowledgeId: string,
): Promise<FactView | undefined> {
  const { rows } = await tx.query<FactRow>(
    `SELECT ${FACT_COLUMNS}, ${REDACTED}, ${DOUBTS} ${FROM_AT_PIN} WHERE v.tenant_id = $1 AND v.knowledge_id = $4 AND ${AT_PIN}`,
    [tenantId, pin.validAt, pin.revision, knowledgeId],
  );
  return rows[0] === undefined ? undefined : toViewAtPin(rows[0]);
}

/**
 * The versions of these facts in force at the pin, by knowledge id; facts without one, and redacted ones, are left out.
 */
export async function findFactsAt(
  tx: Tx,
  tenantId: string,
  pin: Pin,
  knowledgeIds: readonly string[],
): Promise<FactView[]> {
  const { rows } = await tx.query<FactRow>(
    `SELECT ${FACT_COLUMNS}, ${DOUBTS} ${FROM_AT_PIN} WHERE v.tenant_id = $1 AND v.knowledge_id = ANY ($4) AND ${AT_PIN} AND v.redacted_revision IS NULL ORDER BY v.knowledge_id`,
    [tenantId, pin.validAt, pin.revision, knowledgeIds],
  );
  return rows.map(toViewAtPin);
}

export type FactListing = {
  /** Only facts whose knowledge id begins like this. */
  readonly idPrefix?: string;
  /** Only facts whose assertion's subject begins like this, byte by byte. */
  readonly subjectPrefix?: string;
  /** Knowledge id of the last fact of the page before. */
  readonly after?: string;
  /**
   * What a person confirmed comes first, so that no number of candidates can crowd it out of the page. Not with
   * `after`. Default false.
   */
  readonly confirmedFirst?: boolean;
  /** Only what a person confirmed. Default false. */
  readonly confirmedOnly?: boolean;
  /** Default 200. */
  readonly limit?: number;
};

/** A page of all facts in force at the pin, by knowledge id; without redacted ones. */
export async function listFactsAt(tx: Tx, tenantId: string, pin: Pin, listing: FactListing = {}): Promise<FactView[]> {
  const { idPrefix = '', subjectPrefix = null, after = '', confirmedFirst = false, limit = DEFAULT_LIMIT } = listing;
  const { confirmedOnly = false } = listing;
  const { rows } = await tx.query<FactRow>(
    `SELECT ${FACT_COLUMNS}, ${DOUBTS} ${FROM_AT_PIN}
     WHERE v.tenant_id = $1 AND v.knowledge_id > $4 AND v.knowledge_id >= $5 AND v.knowledge_id < $5 || $6
       AND ($7::text IS NULL OR (v.subject >= $7 AND v.subject < $7 || $6)) AND ${AT_PIN} AND v.redacted_revision IS NULL
       ${confirmedOnly ? "AND v.source_type = 'human_confirmed'" : ''}
     ORDER BY ${confirmedFirst ? "v.source_type <> 'human_confirmed', " : ''}v.knowledge_id LIMIT $8`,
    [tenantId, pin.validAt, pin.revision, after, idPrefix, LAST_CHARACTER, subjectPrefix, limit],
  );
  return rows.map(toViewAtPin);
}

/**
 * Everything that a person confirmed about subjects that begin like this, however much it is: a comparison with
 * policies must not miss one. Other statements fill up the first page of 200, and no more: no number of candidates can
 * crowd a policy out.
 */
export async function listPoliciesAt(tx: Tx, tenantId: string, pin: Pin, subjectPrefix: string): Promise<FactView[]> {
  const facts = await listFactsAt(tx, tenantId, pin, { subjectPrefix, confirmedFirst: true });
  for (let page = facts; page.length === DEFAULT_LIMIT; facts.push(...page)) {
    const last = page.at(-1);
    if (last?.sourceType !== 'human_confirmed') break;
    page = await listFactsAt(tx, tenantId, pin, { subjectPrefix, confirmedOnly: true, after: last.knowledgeId });
  }
  return facts;
}

/**
 * All versions of a fact, oldest first, including those no longer believed; weight and importance as of the revision.
 */
export async function findFactHistory(
  tx: Tx,
  tenantId: string,
  knowledgeId: string,
  revision: number,
): Promise<FactView[]> {
  const { rows } = await tx.query<FactRow>(
    `SELECT ${FACT_COLUMNS}, ${REDACTED} FROM knowledge.fact_versions v ${toAdjustedJoin('$3')}
     WHERE v.tenant_id = $1 AND v.knowledge_id = $2 ORDER BY v.version`,
    [tenantId, knowledgeId, revision],
  );
  return rows.map(toFactView);
}

/**
 * Versions by reference, whenever they are in force, with weight and importance as of the revision: for a validator
 * that checks citations.
 */
export async function findFactVersions(
  tx: Tx,
  tenantId: string,
  refs: readonly { readonly knowledgeId: string; readonly version: number }[],
  revision: number,
): Promise<FactView[]> {
  const { rows } = await tx.query<FactRow>(
    `SELECT ${FACT_COLUMNS} FROM unnest($2::text[], $3::int[]) AS r (knowledge_id, version)
     JOIN knowledge.fact_versions v ON v.tenant_id = $1 AND v.knowledge_id = r.knowledge_id AND v.version = r.version
     ${toAdjustedJoin('$4')} ORDER BY v.knowledge_id, v.version`,
    [tenantId, refs.map((ref) => ref.knowledgeId), refs.map((ref) => ref.version), revision],
  );
  return rows.map(toFactView);
}
