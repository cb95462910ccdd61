import { Candidate, FactImport } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { saying } from '../saying.ts';

/** A challenger with its content as stored; `challenger` is null if that can't be read. */
export type RedactableDispute = {
  readonly disputeId: number;
  readonly open: boolean;
  /** Laundering copied what another fact says into it. */
  readonly copied: boolean;
  readonly said: unknown;
  readonly challenger: Candidate | FactImport | null;
};

type DisputeRow = { dispute_id: number; open: boolean; copied: boolean; challenger: unknown };
const DISPUTE = `SELECT dispute_id, resolution IS NULL AS open, source_message_id LIKE 'launder:%' AS copied, challenger FROM knowledge.disputes`;

export async function findDisputesOf(tx: Tx, tenantId: string, knowledgeId: string): Promise<RedactableDispute[]> {
  const { rows } = await tx.query<DisputeRow>(
    `${DISPUTE} WHERE tenant_id = $1 AND knowledge_id = $2 ORDER BY dispute_id`,
    [tenantId, knowledgeId],
  );
  return rows.map(toDispute);
}

/**
 * Disputes about any fact whose challenger may contain one of the phrases: a challenger is a copy of what another fact
 * said.
 */
export async function findSayingDisputes(
  tx: Tx,
  tenantId: string,
  phrases: readonly string[],
): Promise<RedactableDispute[]> {
  const { sql, values } = saying('challenger::text', phrases, 2);
  const { rows } = await tx.query<DisputeRow>(`${DISPUTE} WHERE tenant_id = $1 AND ${sql} ORDER BY dispute_id`, [
    tenantId,
    ...values,
  ]);
  return rows.map(toDispute);
}

function toDispute(row: DisputeRow): RedactableDispute {
  const imported = FactImport.safeParse(row.challenger);
  const challenger = imported.success ? imported.data : (Candidate.safeParse(row.challenger).data ?? null);
  return { disputeId: row.dispute_id, open: row.open, copied: row.copied, said: row.challenger, challenger };
}

/** The challenger's words are erased; who won stays on record. */
export async function eraseDisputes(
  tx: Tx,
  tenantId: string,
  disputes: readonly { readonly disputeId: number; readonly challenger: Candidate; readonly signature: string }[],
): Promise<void> {
  if (disputes.length === 0) return;
  await tx.query(
    `UPDATE knowledge.disputes d SET challenger = x.challenger, challenger_signature = x.signature, reason = 'redacted', resolution_reason = 'redacted'
     FROM json_to_recordset($2) AS x ("disputeId" int8, challenger json, signature text) WHERE d.tenant_id = $1 AND d.dispute_id = x."disputeId"`,
    [tenantId, JSON.stringify(disputes)],
  );
}

/**
 * Free text that people or rules wrote about any fact. Reasons of candidates are not among them: they are examined with
 * their candidate.
 */
const NOTES = [
  { table: 'feedback', column: 'note' },
  { table: 'reviews', column: 'outcome' },
  { table: 'disputes', column: 'reason' },
  { table: 'disputes', column: 'resolution_reason' },
  { table: 'audit', column: 'reason' },
] as const;

export type SayingNote = (typeof NOTES)[number] & { readonly text: string };

/** Different texts of a tenant that may contain one of the phrases, except the reasons given for redactions. */
export async function findSayingNotes(tx: Tx, tenantId: string, phrases: readonly string[]): Promise<SayingNote[]> {
  const found: SayingNote[] = [];
  for (const { table, column } of NOTES) {
    const { sql, values } = saying(column, phrases, 2);
    const others = table === 'audit' ? `AND decision <> 'redacted'` : '';
    const { rows } = await tx.query<{ text: string }>(
      `SELECT DISTINCT ${column} AS text FROM knowledge.${table} WHERE tenant_id = $1 AND ${column} IS NOT NULL ${others} AND ${sql}`,
      [tenantId, ...values],
    );
    found.push(...rows.map(({ text }) => ({ table, column, text }) as SayingNote));
  }
  return found;
}

/** Replaces each text by another; the audit, which is never rewritten, only records that there was one. */
export async function eraseNotes(
  tx: Tx,
  tenantId: string,
  notes: readonly (SayingNote & { readonly erased: string })[],
): Promise<void> {
  for (const { table, column, text, erased } of notes) {
    if (table === 'audit') continue;
    await tx.query(`UPDATE knowledge.${table} SET ${column} = $3 WHERE tenant_id = $1 AND ${column} = $2`, [
      tenantId,
      text,
      erased,
    ]);
  }
  const audited = notes.filter(({ table }) => table === 'audit').map(({ text }) => text);
  if (audited.length > 0) await tx.query('SELECT knowledge.erase_audit_reasons($1, $2)', [tenantId, audited]);
}
