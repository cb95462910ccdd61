import { type DeadLetterSummary, DeadLetterView } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { toConditions } from './conditions.ts';
import { parsePageToken, toPageToken } from './page-token.ts';
import { toErrorBody } from './rows.ts';

export type DeadLetterQuery = {
  readonly limit?: number | undefined;
  readonly before?: string | undefined;
  readonly reason?: string | undefined;
  readonly role?: string | undefined;
  readonly workflow?: string | undefined;
  readonly taskId?: string | undefined;
  readonly status?: DeadLetterSummary['status'] | undefined;
  /** ISO times: last failed at `since` or later, before `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly needsHuman?: boolean | undefined;
  readonly batch?: string | undefined;
  readonly outcome?: 'succeeded' | 'failed_again' | undefined;
};

type LetterRow = {
  readonly letter_id: string;
  readonly tenant_id: string | null;
  readonly task_id: string | null;
  readonly step_id: string | null;
  readonly attempt: number | null;
  readonly role: string | null;
  readonly workflow: string | null;
  readonly reason: string;
  readonly error: unknown;
  readonly status: DeadLetterSummary['status'];
  readonly replays: number;
  readonly needs_human: boolean;
  readonly outcome: 'succeeded' | 'failed_again' | null;
  readonly replay_of: string | null;
  readonly lineage: string;
  readonly first_failed_at: Date;
  readonly last_failed_at: Date;
};

const SUMMARY = `letter_id, tenant_id, task_id, step_id, attempt, role, workflow, reason, error, status, replays,
  needs_human, outcome, replay_of, lineage, first_failed_at, last_failed_at`;

/** Dead letters of the transaction's tenant, last failed first. */
export async function listDeadLetters(
  tx: Tx,
  query: DeadLetterQuery,
): Promise<{ letters: DeadLetterSummary[]; next: string | null }> {
  const limit = query.limit ?? 50;
  const before = query.before === undefined ? undefined : parsePageToken(query.before, /^.+$/);
  const { sql, values } = toConditions([
    ['status = ?', query.status],
    ['task_id = ?', query.taskId],
    ['batch = ?', query.batch],
    ['reason = ?', query.reason],
    ['role = ?', query.role],
    ['workflow = ?', query.workflow],
    ['needs_human = ?', query.needsHuman],
    ['outcome = ?', query.outcome],
    ['last_failed_at >= ?::timestamptz', query.since],
    ['last_failed_at < ?::timestamptz', query.until],
    ['(last_failed_at, letter_id) < (?::timestamptz, ?)', before?.at, before?.id],
  ]);
  const { rows } = await tx.query<LetterRow & { last_text: string }>(
    `SELECT ${SUMMARY}, last_failed_at::text AS last_text
     FROM ledger.dead_letters
     WHERE tenant_id = current_setting('cleanslate.tenant')${sql}
     ORDER BY last_failed_at DESC, letter_id DESC LIMIT $${values.length + 1}`,
    [...values, limit],
  );
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return {
    letters: rows.map(toSummary),
    next: last ? toPageToken({ at: last.last_text, id: last.letter_id }) : null,
  };
}

type FullLetterRow = LetterRow & {
  readonly stream: string | null;
  readonly subject: string | null;
  readonly consumer: string | null;
  readonly headers: unknown;
  readonly body: Buffer | null;
  readonly edited: Buffer | null;
  readonly history: unknown;
};

/** One letter of the transaction's tenant with its bytes and its history. */
export async function findDeadLetter(tx: Tx, letterId: string): Promise<DeadLetterView | undefined> {
  const { rows } = await tx.query<FullLetterRow>(
    `SELECT ${SUMMARY}, stream, subject, consumer, headers, body, edited, history
     FROM ledger.dead_letters WHERE tenant_id = current_setting('cleanslate.tenant') AND letter_id = $1`,
    [letterId],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return DeadLetterView.parse({
    ...toSummary(row),
    stream: row.stream,
    subject: row.subject,
    consumer: row.consumer,
    headers: row.headers,
    body: row.body?.toString('base64') ?? null,
    edited: row.edited?.toString('base64') ?? null,
    error: toErrorBody(row.error),
    history: row.history,
  });
}

function toSummary(row: LetterRow): DeadLetterSummary {
  return {
    letterId: row.letter_id,
    tenantId: row.tenant_id,
    taskId: row.task_id,
    stepId: row.step_id,
    attempt: row.attempt,
    role: row.role,
    workflow: row.workflow,
    reason: row.reason,
    message: toErrorBody(row.error)?.message ?? '',
    status: row.status,
    replays: row.replays,
    needsHuman: row.needs_human,
    outcome: row.outcome,
    replayOf: row.replay_of,
    lineage: row.lineage,
    firstFailedAt: row.first_failed_at.toISOString(),
    lastFailedAt: row.last_failed_at.toISOString(),
  };
}
