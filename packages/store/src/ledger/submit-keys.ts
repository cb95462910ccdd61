import { randomBytes } from 'node:crypto';
import { AppError } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { TASK_OF_X } from './one-plan.ts';

/** The secret of these tenants; those without one had nothing erased from a task. */
export async function findSubmitKeys(tx: Tx, tenantIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  if (tenantIds.length === 0) return new Map();
  const { rows } = await tx.query<{ tenant_id: string; key: Buffer }>(
    'SELECT tenant_id, key FROM ledger.submit_keys WHERE tenant_id = ANY ($1)',
    [[...new Set(tenantIds)]],
  );
  return new Map(rows.map((row) => [row.tenant_id, row.key]));
}

/**
 * Replaces the plain hashes of submits from whose tasks something was erased by keyed ones, once for each finished
 * redaction. `toKeyed`: from a tenant's secret and a plain hash.
 */
export async function keySubmits(tx: Tx, toKeyed: (key: Uint8Array, bodyHash: string) => string): Promise<void> {
  const done = await tx.query<{ redaction_id: number; tenant_id: string; tasks: string[] }>(
    `SELECT redaction_id, tenant_id, tasks FROM ledger.erasures WHERE NOT keyed AND done_at IS NOT NULL
     ORDER BY redaction_id LIMIT 100 FOR UPDATE SKIP LOCKED`,
  );
  for (const { redaction_id, tenant_id, tasks } of done.rows) {
    if (tasks.length > 0) await keyTasks(tx, tenant_id, tasks, toKeyed);
    await tx.query('UPDATE ledger.erasures SET keyed = true WHERE redaction_id = $1', [redaction_id]);
  }
}

async function keyTasks(
  tx: Tx,
  tenantId: string,
  taskIds: readonly string[],
  toKeyed: (key: Uint8Array, bodyHash: string) => string,
): Promise<void> {
  const { rows } = await tx.query<{ task_seq: number; body_hash: string }>(
    `SELECT task_seq, body_hash FROM ledger.tasks WHERE tenant_id = $1 AND task_id = ANY ($2) AND body_hash ~ '^[0-9a-f]{64}$'
     ORDER BY task_seq FOR UPDATE`,
    [tenantId, taskIds],
  );
  if (rows.length === 0) return;
  const key = await takeSubmitKey(tx, tenantId);
  await tx.query(
    `UPDATE ledger.tasks t SET body_hash = x.hash FROM unnest($1::int8[], $2::text[]) AS x (task_seq, hash) WHERE ${TASK_OF_X}`,
    [rows.map((row) => row.task_seq), rows.map((row) => toKeyed(key, row.body_hash))],
  );
}

/** Made when first needed; if another scheduler makes one at the same moment, this waits for it and uses it. */
async function takeSubmitKey(tx: Tx, tenantId: string): Promise<Uint8Array> {
  await tx.query('INSERT INTO ledger.submit_keys (tenant_id, key) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    tenantId,
    randomBytes(32),
  ]);
  const key = (await findSubmitKeys(tx, [tenantId])).get(tenantId);
  if (key === undefined) throw new AppError('INTERNAL', `tenant ${tenantId} has no submit key`);
  return key;
}
