import { AppError, type TaskState } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { toTextArray } from './arrays.ts';

export type KnownSubmit = {
  readonly tenantId: string;
  readonly taskId: string;
  readonly idempotencyKey: string | null;
  readonly bodyHash: string;
  readonly state: TaskState;
};

/**
 * Conditions that find `ledger.tasks t` by its unique keys, given in `k`. The tenant is compared behind the
 * index: indexes that begin with it must not fit (docs/decisions/0048; seen: every submit of the first minute
 * read all tasks of its tenant).
 */
const OF_TENANT = "(t.tenant_id || '') = k.tenant_id";
export const BY_TASK_ID = `t.task_id = ANY (ARRAY[k.task_id]) AND ${OF_TENANT}`;
const BY_IDEMPOTENCY_KEY = `t.idempotency_key = ANY (ARRAY[k.idempotency_key]) AND t.idempotency_key IS NOT NULL AND ${OF_TENANT}`;

/** Tasks that submits of a batch may mean: by task id or by idempotency key. */
export async function findKnownSubmits(
  tx: Tx,
  submits: readonly { tenantId: string; taskId: string; key: string | null }[],
): Promise<readonly KnownSubmit[]> {
  const { rows } = await tx.query<{
    tenant_id: string;
    task_id: string;
    idempotency_key: string | null;
    body_hash: string;
    state: TaskState;
  }>(
    `SELECT t.tenant_id, t.task_id, t.idempotency_key, t.body_hash, t.state
     FROM unnest($1::text[], $2::text[], $3::text[]) AS k(tenant_id, task_id, idempotency_key) CROSS JOIN LATERAL (
       SELECT t.* FROM ledger.tasks t WHERE ${BY_TASK_ID}
       UNION ALL
       SELECT t.* FROM ledger.tasks t WHERE ${BY_IDEMPOTENCY_KEY} AND t.task_id <> k.task_id
     ) t`,
    [
      toTextArray(submits.map((submit) => submit.tenantId)),
      toTextArray(submits.map((submit) => submit.taskId)),
      toTextArray(submits.map((submit) => submit.key)),
    ],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    taskId: row.task_id,
    idempotencyKey: row.idempotency_key,
    bodyHash: row.body_hash,
    state: row.state,
  }));
}

/** Why each of the given tenants may start no work now; those that may are left out. */
export async function findIdleTenants(tx: Tx, tenantIds: readonly string[]): Promise<ReadonlyMap<string, AppError>> {
  const { rows } = await tx.query<{ tenant_id: string; state: 'active' | 'suspended' }>(
    'SELECT tenant_id, state FROM ledger.tenants WHERE tenant_id = ANY($1::text[])',
    [tenantIds],
  );
  const states = new Map(rows.map((row) => [row.tenant_id, row.state]));
  return new Map(
    tenantIds
      .filter((tenantId) => states.get(tenantId) !== 'active')
      .map((tenantId) => [tenantId, states.has(tenantId) ? suspended(tenantId) : unknown(tenantId)]),
  );
}

/** Throws `UNKNOWN_TENANT`, `TENANT_SUSPENDED`: before anything that starts work. */
export async function requireActiveTenant(tx: Tx, tenantId: string): Promise<void> {
  const why = (await findIdleTenants(tx, [tenantId])).get(tenantId);
  if (why !== undefined) throw why;
}

function unknown(tenantId: string): AppError {
  return new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
}

function suspended(tenantId: string): AppError {
  return new AppError(
    'TENANT_SUSPENDED',
    `tenant "${tenantId}" is suspended: what runs goes on, nothing new starts until an operator resumes it (slate tenant resume)`,
  );
}

/** The last committed knowledge revision: what a task accepted now is pinned to. */
export async function readKnowledgeRevision(tx: Tx): Promise<{ revision: number; nowMs: number }> {
  const { rows } = await tx.query<{ revision: number | null; now_ms: number }>(
    'SELECT (SELECT max(revision) FROM knowledge.revisions) AS revision, (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms',
  );
  return { revision: rows[0]?.revision ?? 0, nowMs: rows[0]?.now_ms ?? 0 };
}
