import { type FactRedactions, RedactionView, type RequestOf, type ValueOf } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { parsePosition } from './page-token.ts';

type RedactionRow = {
  readonly redaction_id: number;
  readonly knowledge_id: string;
  readonly versions: number[];
  readonly reason: string;
  readonly redacted_by: string;
  readonly redacted_at: Date;
  readonly revision: number;
  readonly confirmed_at: Date | null;
  readonly rows: number | null;
  readonly objects: number | null;
  readonly messages: number | null;
  readonly tasks: string[] | null;
  readonly waits_for: string[] | null;
};

/** Redactions of the transaction's tenant, newest first, and how far the scheduler is with them. */
export async function listRedactions(
  tx: Tx,
  query: RequestOf<typeof FactRedactions>,
): Promise<ValueOf<typeof FactRedactions>> {
  const limit = query.limit ?? 50;
  const { rows } = await tx.query<RedactionRow>(
    `SELECT r.redaction_id, r.knowledge_id, r.versions, r.reason, r.redacted_by, r.redacted_at, r.revision, r.confirmed_at,
       e.rows, e.objects, e.messages, e.tasks, e.waits_for
     FROM knowledge.redactions r LEFT JOIN ledger.erasures e ON e.redaction_id = r.redaction_id
     WHERE r.tenant_id = current_setting('cleanslate.tenant') AND r.redaction_id < $1 AND ($2::text IS NULL OR r.knowledge_id = $2)
       AND (NOT $3 OR r.confirmed_at IS NULL) ORDER BY r.redaction_id DESC LIMIT $4`,
    [parsePosition(query.before), query.knowledgeId ?? null, query.open ?? false, limit],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { redactions: rows.map(toView), next: last === undefined ? null : String(last.redaction_id) };
}

function toView(row: RedactionRow): RedactionView {
  const waitsFor = row.waits_for ?? [];
  return RedactionView.parse({
    redactionId: row.redaction_id,
    knowledgeId: row.knowledge_id,
    versions: row.versions.map((version) => `${row.knowledge_id}@${version}`),
    reason: row.reason,
    by: row.redacted_by,
    at: row.redacted_at.toISOString(),
    revision: row.revision,
    state: row.confirmed_at !== null ? 'erased' : waitsFor.length > 0 ? 'waiting' : 'erasing',
    erased: { rows: row.rows ?? 0, objects: row.objects ?? 0, messages: row.messages ?? 0, tasks: row.tasks ?? [] },
    waitsFor: row.confirmed_at === null ? waitsFor : [],
    confirmedAt: row.confirmed_at?.toISOString() ?? null,
  });
}
