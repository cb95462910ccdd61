import type { AttemptRef } from '@cleanslate/contracts';
import type { LimitUse } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';

export type CallScope = { readonly tenantId: string; readonly model: string };

type UseRow = {
  readonly tenant_id: string | null;
  readonly model: string;
  readonly max_requests: number | null;
  readonly tokens_per_minute: string | null;
  readonly tokens_per_day: string | null;
  readonly cost_per_day: number | null;
  readonly open_requests: string;
  readonly minute_tokens: string;
  readonly minute_eases: number | null;
  readonly day_tokens: string;
  readonly day_cost: number;
  readonly day_ends: number;
};

/**
 * What a call has to fit into, with what is used. The limits stay locked: nobody else decides about them
 * before this transaction is over.
 */
export async function findCallUse(tx: Tx, { tenantId, model }: CallScope): Promise<LimitUse[]> {
  const { rowCount } = await tx.query(
    `SELECT FROM ledger.model_limits WHERE (tenant_id IS NULL OR tenant_id = $1) AND model IN ('', $2)
     ORDER BY tenant_id NULLS FIRST, model FOR UPDATE`,
    [tenantId, model],
  );
  if (rowCount === 0) return [];
  // By the clock, not by the beginning of the transaction: it may have waited for the lock.
  const { rows } = await tx.query<UseRow>(
    `SELECT l.*, open.requests AS open_requests, minute.tokens AS minute_tokens, minute.eases AS minute_eases,
       day.tokens AS day_tokens, day.cost AS day_cost,
       extract(epoch FROM date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day' - clock_timestamp())::float8 * 1000 AS day_ends
     FROM ledger.model_limits l
     CROSS JOIN LATERAL (SELECT count(*) AS requests FROM ledger.model_calls c
       WHERE c.ended_at IS NULL AND c.expires_at > clock_timestamp() AND ${OF_LIMIT}) open
     CROSS JOIN LATERAL (SELECT coalesce(sum(c.tokens), 0) AS tokens,
         extract(epoch FROM min(c.started_at) FILTER (WHERE c.tokens > 0) + interval '1 minute' - clock_timestamp())::float8 * 1000 AS eases
       FROM ledger.model_calls c WHERE c.started_at > clock_timestamp() - interval '1 minute' AND ${OF_LIMIT}) minute
     CROSS JOIN LATERAL (SELECT coalesce(sum(c.tokens), 0) AS tokens, coalesce(sum(c.cost), 0) AS cost FROM ledger.model_spend c
       WHERE c.day = (clock_timestamp() AT TIME ZONE 'UTC')::date AND ${OF_LIMIT}) day
     WHERE (l.tenant_id IS NULL OR l.tenant_id = $1) AND l.model IN ('', $2)`,
    [tenantId, model],
  );
  return rows.map(toLimitUse);
}

/** Calls and spend (`c`) that count against a limit (`l`). */
const OF_LIMIT = `(l.tenant_id IS NULL OR c.tenant_id = l.tenant_id) AND (l.model = '' OR c.model = l.model)`;

function toLimitUse(row: UseRow): LimitUse {
  return {
    limit: {
      tenantId: row.tenant_id,
      model: row.model,
      maxRequests: row.max_requests,
      costPerDay: row.cost_per_day,
      tokensPerMinute: toNumber(row.tokens_per_minute),
      tokensPerDay: toNumber(row.tokens_per_day),
    },
    openRequests: Number(row.open_requests),
    minuteTokens: Number(row.minute_tokens),
    minuteEasesInMs: Math.max(0, row.minute_eases ?? 0),
    dayTokens: Number(row.day_tokens),
    dayCost: row.day_cost,
    dayEndsInMs: Math.max(0, row.day_ends),
  };
}

function toNumber(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** Whether the call was granted before: its answer may have got lost. */
export async function isOpenCall(tx: Tx, callId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT FROM ledger.model_calls WHERE call_id = $1 AND ended_at IS NULL AND expires_at > clock_timestamp()',
    [callId],
  );
  return rowCount === 1;
}

/**
 * Begins a call: what it may take counts from now on. False, and nothing is done, where it has been ended: a request
 * for it may come behind its settlement.
 */
export async function insertCall(
  tx: Tx,
  call: CallScope & {
    readonly callId: string;
    readonly tokens: number;
    readonly cost: number;
    readonly leaseMs: number;
  },
): Promise<boolean> {
  const { callId, tenantId, model, tokens, cost, leaseMs } = call;
  const { rowCount } = await tx.query(
    `WITH opened AS (
       INSERT INTO ledger.model_calls (call_id, tenant_id, model, started_at, expires_at, tokens, cost)
       VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp() + make_interval(secs => $6::float8 / 1000), $4, $5)
       ON CONFLICT (call_id) DO NOTHING RETURNING *)
     INSERT INTO ledger.model_spend (day, tenant_id, model, requests, tokens, cost)
     SELECT (started_at AT TIME ZONE 'UTC')::date, tenant_id, model, 1, tokens, cost FROM opened
     ON CONFLICT (day, tenant_id, model) DO UPDATE
     SET requests = model_spend.requests + 1, tokens = model_spend.tokens + excluded.tokens, cost = model_spend.cost + excluded.cost`,
    [callId, tenantId, model, tokens, cost, leaseMs],
  );
  return rowCount === 1;
}

/** Prolongs the leases that still hold, and returns the ids of the others. */
export async function renewCalls(tx: Tx, callIds: readonly string[], leaseMs: number): Promise<string[]> {
  const { rows } = await tx.query<{ call_id: string }>(
    `UPDATE ledger.model_calls SET expires_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
     WHERE call_id = ANY ($1::uuid[]) AND ended_at IS NULL AND expires_at > clock_timestamp() RETURNING call_id`,
    [callIds, leaseMs],
  );
  const held = new Set(rows.map((row) => row.call_id));
  return callIds.filter((callId) => !held.has(callId));
}

export type SettledCall = {
  readonly callId: string;
  readonly attempt: AttemptRef;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number | undefined;
};

/**
 * Ends a call: what it used takes the place of what was reserved, and stands with its task. Once only; after the lease
 * it still counts. One that was not begun is over before it begins: its request may still be on its way.
 */
export async function settleCall(tx: Tx, settled: SettledCall): Promise<void> {
  if (await endCall(tx, settled)) return;
  // It takes no place and used nothing. Where it is begun just now, this waits for that.
  const { rowCount } = await tx.query(
    `INSERT INTO ledger.model_calls (call_id, tenant_id, model, started_at, expires_at, ended_at, tokens)
     SELECT $1, tenant_id, '', clock_timestamp(), clock_timestamp(), clock_timestamp(), 0 FROM ledger.tenants WHERE tenant_id = $2
     ON CONFLICT (call_id) DO NOTHING`,
    [settled.callId, settled.attempt.tenantId],
  );
  if (rowCount === 0) await endCall(tx, settled);
}

/** False where there is none that is open. */
async function endCall(tx: Tx, settled: SettledCall): Promise<boolean> {
  const { callId, attempt, promptTokens, completionTokens, cost } = settled;
  const { rows } = await tx.query<{ model: string }>(
    `WITH before AS (SELECT * FROM ledger.model_calls WHERE call_id = $1 AND tenant_id = $2 AND ended_at IS NULL FOR UPDATE),
     ended AS (UPDATE ledger.model_calls c SET ended_at = clock_timestamp(), tokens = $3, cost = $4 FROM before b WHERE c.call_id = b.call_id),
     spent AS (
       UPDATE ledger.model_spend s SET tokens = s.tokens + $3 - b.tokens, cost = s.cost + $4 - b.cost FROM before b
       WHERE s.day = (b.started_at AT TIME ZONE 'UTC')::date AND s.tenant_id = b.tenant_id AND s.model = b.model)
     SELECT model FROM before`,
    [callId, attempt.tenantId, promptTokens + completionTokens, cost ?? 0],
  );
  const [call] = rows;
  if (call === undefined) return false;
  await tx.query(
    `INSERT INTO ledger.task_model_usage AS u (task_seq, tenant_id, model, requests, prompt_tokens, completion_tokens, cost)
     SELECT task_seq, tenant_id, $3, 1, $4, $5, $6 FROM ledger.tasks WHERE tenant_id = $1 AND task_id = $2
     ON CONFLICT (task_seq, model) DO UPDATE SET requests = u.requests + 1, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
       completion_tokens = u.completion_tokens + excluded.completion_tokens,
       cost = CASE WHEN u.cost IS NULL THEN excluded.cost ELSE u.cost + coalesce(excluded.cost, 0) END`,
    [attempt.tenantId, attempt.taskId, call.model, promptTokens, completionTokens, cost ?? null],
  );
  return true;
}

/** Rows that no limit looks at any more go; those of holders that died are ended. Returns how many. */
export async function forgetCalls(tx: Tx, limit: number): Promise<number> {
  await tx.query(
    `UPDATE ledger.model_calls SET ended_at = expires_at WHERE call_id IN (
       SELECT call_id FROM ledger.model_calls WHERE ended_at IS NULL AND expires_at < clock_timestamp() - interval '10 minutes' LIMIT $1)`,
    [limit],
  );
  await tx.query(`DELETE FROM ledger.model_spend WHERE day < (clock_timestamp() AT TIME ZONE 'UTC')::date - 400`);
  const { rowCount } = await tx.query(
    `DELETE FROM ledger.model_calls WHERE call_id IN (
       SELECT call_id FROM ledger.model_calls WHERE ended_at IS NOT NULL AND started_at < clock_timestamp() - interval '10 minutes' LIMIT $1)`,
    [limit],
  );
  return rowCount ?? 0;
}
