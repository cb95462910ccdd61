import type { SessionList, SessionShow, ValueOf } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { IS_SHOWN, type SessionItemRow, toSessionItem } from '../ledger/sessions.ts';

type Listed = { session_id: string; items: number; bytes: number; last_at: Date | null; expires_at: Date };

/** Sessions of the transaction's tenant that have not expired, by id. */
export async function listSessions(
  tx: Tx,
  query: { readonly limit?: number | undefined; readonly after?: string | undefined },
): Promise<ValueOf<typeof SessionList>> {
  const limit = query.limit ?? 50;
  const { rows } = await tx.query<Listed>(
    `SELECT s.session_id, s.expires_at, i.* FROM ledger.sessions s CROSS JOIN LATERAL (
       SELECT count(*)::int AS items, coalesce(sum(octet_length(text)), 0)::int AS bytes, max(at) AS last_at
       FROM ledger.session_items i WHERE i.tenant_id = s.tenant_id AND i.session_id = s.session_id) i
     WHERE s.tenant_id = current_setting('cleanslate.tenant') AND s.expires_at > now() AND ($1::text IS NULL OR s.session_id > $1)
     ORDER BY s.session_id LIMIT $2`,
    [query.after ?? null, limit],
  );
  const sessions = rows.map((row) => ({
    sessionId: row.session_id,
    items: row.items,
    bytes: row.bytes,
    lastAt: row.last_at?.toISOString() ?? null,
    expiresAt: row.expires_at.toISOString(),
  }));
  return { sessions, next: rows.length === limit ? (rows.at(-1)?.session_id ?? null) : null };
}

/** Everything that a session of the transaction's tenant holds; undefined where there is none. */
export async function findSession(tx: Tx, sessionId: string): Promise<ValueOf<typeof SessionShow> | undefined> {
  const { rows } = await tx.query<{ forgotten: number; extracted_through: number; expires_at: Date }>(
    `SELECT forgotten, extracted_through, expires_at FROM ledger.sessions
     WHERE tenant_id = current_setting('cleanslate.tenant') AND session_id = $1 AND expires_at > now()`,
    [sessionId],
  );
  const [session] = rows;
  if (session === undefined) return undefined;
  const items = await tx.query<SessionItemRow & { shown: boolean }>(
    `SELECT n, said_by, text, task_id, at, ${IS_SHOWN} AS shown FROM ledger.session_items i
     WHERE i.tenant_id = current_setting('cleanslate.tenant') AND i.session_id = $1 ORDER BY n`,
    [sessionId],
  );
  return {
    sessionId,
    items: items.rows.map((row) => ({ ...toSessionItem(row), shown: row.shown })),
    forgotten: session.forgotten,
    extractedThrough: session.extracted_through,
    expiresAt: session.expires_at.toISOString(),
  };
}
