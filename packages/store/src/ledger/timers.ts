import type { LedgerInput } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import type { TaskKey } from './rows.ts';

export type DueInput = TaskKey & { readonly input: LedgerInput };
type DueRow = {
  tenant_id: string;
  task_id: string;
  step_id: string;
  attempt: number;
  ring: number;
  claim_id: string | null;
  doorbell_seq: number | null;
};

const COLUMNS =
  's.tenant_id, (SELECT t.task_id FROM ledger.tasks t WHERE t.task_seq = s.task_seq) AS task_id, s.step_id, s.attempt, s.ring, s.claim_id, s.doorbell_seq';

/**
 * Ticks come each second while broker and database answer; without a fresh one there is an outage whose length isn't
 * known yet. The first tick after it moves leases and queue times, so until then none of them is over.
 */
const FRESH_TICK = `EXISTS (SELECT FROM ledger.ticks WHERE at > now() - interval '3 seconds')`;

/**
 * Back-offs that are over, queue times that ran out, task deadlines, gates that nobody decided on: what the clock alone
 * decides. Oldest first, at most `limit` of each.
 */
export async function findDueInputs(tx: Tx, limit: number): Promise<readonly DueInput[]> {
  const backoffs = await due(tx, `s.phase = 'backing_off' AND s.due_at <= now()`, 's.due_at', limit);
  const queues = await due(
    tx,
    `s.phase IN ('ready', 'dispatched', 'backing_off') AND s.queue_expires_at <= now() AND ${FRESH_TICK}`,
    's.queue_expires_at',
    limit,
  );
  const deadlines = await tx.query<{ tenant_id: string; task_id: string }>(
    `SELECT tenant_id, task_id FROM ledger.tasks WHERE state NOT IN ('completed', 'failed') AND deadline <= now() ORDER BY deadline LIMIT $1`,
    [limit],
  );
  const gates = await tx.query<{ tenant_id: string; task_id: string }>(
    'SELECT tenant_id, task_id FROM ledger.tasks WHERE gate_expires_at <= now() ORDER BY gate_expires_at LIMIT $1',
    [limit],
  );
  return [
    ...gates.rows.map((row) => ({
      tenantId: row.tenant_id,
      taskId: row.task_id,
      input: { kind: 'gate_due' } as const,
    })),
    ...deadlines.rows.map((row) => ({
      tenantId: row.tenant_id,
      taskId: row.task_id,
      input: { kind: 'deadline_due' } as const,
    })),
    ...queues.map((row) => ({ ...key(row), input: { kind: 'queue_due', stepId: row.step_id } as const })),
    ...backoffs.map((row) => ({ ...key(row), input: { kind: 'backoff_due', stepId: row.step_id } as const })),
  ];
}

/**
 * Leases and attempt time-outs that are over. They are ended only after every report stored before was applied: the
 * caller waits for that. None during an outage: the first tick after it moves them.
 */
export async function findDueClaims(tx: Tx, limit: number): Promise<readonly DueInput[]> {
  const leases = await due(tx, `s.phase = 'executing' AND s.due_at <= now() AND ${FRESH_TICK}`, 's.due_at', limit);
  const timeouts = await due(
    tx,
    `s.phase = 'executing' AND s.timeout_at <= now() AND ${FRESH_TICK}`,
    's.timeout_at',
    limit,
  );
  return [
    ...leases.map((row) => ({
      ...key(row),
      input: { kind: 'lease_due', stepId: row.step_id, attempt: row.attempt, claimId: row.claim_id ?? '' } as const,
    })),
    ...timeouts.map((row) => ({
      ...key(row),
      input: { kind: 'attempt_timeout_due', stepId: row.step_id, attempt: row.attempt } as const,
    })),
  ];
}

export type DueRing = TaskKey & {
  readonly stepId: string;
  readonly attempt: number;
  readonly ring: number;
  readonly role: string;
  /** Where in the stream it hangs; null where no PubAck is on record: it is published again by then. */
  readonly doorbellSeq: number | null;
};

/**
 * Those that are not known to be published are published again meanwhile; their check only keeps them accounted for.
 */
const UNPUBLISHED_SECONDS = 20;

/** Doorbells that nobody answered for a while; the caller looks whether the stream still holds them. */
export async function findDueRings(tx: Tx, limit: number): Promise<readonly DueRing[]> {
  const { rows } = await tx.query<DueRow & { role: string }>(
    `SELECT ${COLUMNS}, s.role FROM ledger.steps s WHERE s.look_at <= now() AND s.phase = 'dispatched'
       AND s.due_at <= now() - CASE WHEN s.doorbell_seq IS NULL THEN make_interval(secs => $2) ELSE interval '0' END ORDER BY s.due_at LIMIT $1`,
    [limit, UNPUBLISHED_SECONDS],
  );
  return rows.map((row) => ({
    ...key(row),
    stepId: row.step_id,
    attempt: row.attempt,
    ring: row.ring,
    role: row.role,
    doorbellSeq: row.doorbell_seq,
  }));
}

async function due(tx: Tx, where: string, order: string, limit: number): Promise<readonly DueRow[]> {
  const { rows } = await tx.query<DueRow>(
    `SELECT ${COLUMNS} FROM ledger.steps s WHERE s.look_at <= now() AND ${where} ORDER BY ${order} LIMIT $1`,
    [limit],
  );
  return rows;
}

function key(row: DueRow): TaskKey {
  return { tenantId: row.tenant_id, taskId: row.task_id };
}
