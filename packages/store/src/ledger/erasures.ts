import type { Tx } from '../database.ts';

/** A redaction that the ledger is not free of yet. */
export type OpenErasure = {
  readonly redactionId: number;
  readonly tenantId: string;
  readonly knowledgeId: string;
  readonly versions: readonly number[];
  readonly phrases: readonly string[];
  readonly hashes: readonly string[];
  /** The end of the last look that found something; the start, before the first. */
  readonly foundAt: Date;
  /** Somebody went through everything once. */
  readonly looked: boolean;
  /** Tasks in whose rows something was erased so far. */
  readonly tasks: readonly string[];
};

/**
 * Whose turn it is of the redactions that are not done, and the ids of all of them. Begun here where it was not; a
 * look that fails loses the turn.
 */
export async function beginErasure(
  tx: Tx,
): Promise<{ readonly next: OpenErasure | undefined; readonly open: readonly number[] }> {
  await tx.query(
    `INSERT INTO ledger.erasures (redaction_id, tenant_id)
     SELECT redaction_id, tenant_id FROM knowledge.redactions WHERE confirmed_at IS NULL ON CONFLICT DO NOTHING`,
  );
  const { rows } = await tx.query<{ redaction_id: number }>(
    // One after the other, so that those which wait or fail hold nobody up.
    `SELECT e.redaction_id FROM knowledge.redactions r JOIN ledger.erasures e ON e.redaction_id = r.redaction_id
     WHERE r.confirmed_at IS NULL AND e.done_at IS NULL ORDER BY e.tried_at NULLS FIRST, e.redaction_id`,
  );
  const open = rows.map((row) => row.redaction_id);
  const [first] = open;
  if (first === undefined) return { next: undefined, open };
  const taken = await tx.query<OpenErasure>(
    `UPDATE ledger.erasures e SET tried_at = clock_timestamp() FROM knowledge.redactions r
     WHERE e.redaction_id = $1 AND r.redaction_id = e.redaction_id AND r.confirmed_at IS NULL
     RETURNING r.redaction_id AS "redactionId", r.tenant_id AS "tenantId", r.knowledge_id AS "knowledgeId", r.versions, r.phrases, r.hashes,
       e.found_at AS "foundAt", e.looked_at IS NOT NULL AS looked, e.tasks`,
    [first],
  );
  return { next: taken.rows[0], open };
}

/** A doorbell that was heard before is claimed within this, or rung anew. */
const HEARD_SECONDS = 30;

/** They read facts by a credential of their own; others know what the ledger gave them. */
const READERS = ['retriever', 'validator'];

/**
 * Tasks with an attempt that was handed out while there was still something to find: what it reports may hold what it
 * was given then, in a task that held it, or what it read.
 */
export async function findEarlierAttempts(tx: Tx, { tenantId, foundAt, tasks }: OpenErasure): Promise<string[]> {
  const { rows } = await tx.query<{ task_id: string }>(
    `SELECT DISTINCT t.task_id FROM ledger.steps s JOIN ledger.tasks t ON t.task_seq = s.task_seq
     WHERE s.tenant_id = $1 AND s.phase IN ('dispatched', 'executing') AND coalesce(s.ready_at, s.started_at, '-infinity') <= $2
       AND (s.phase = 'executing' AND (t.task_id = ANY ($4) OR s.role = ANY ($5))
         OR s.phase = 'dispatched' AND t.task_id = ANY ($4) AND clock_timestamp() < $2::timestamptz + make_interval(secs => $3)) ORDER BY 1 LIMIT 100`,
    [tenantId, foundAt, HEARD_SECONDS, tasks, READERS],
  );
  return rows.map((row) => row.task_id);
}

/**
 * A doorbell that a sweep can't publish is in memory for no longer than this; then it is built from its step again.
 * Twice what the relay gives it.
 */
const HELD_SECONDS = 10;

/**
 * True while messages that were committed before still wait to be published, as they were: events,
 * doorbells (of steps that wait for one, or ended just now without having been heard of), and the outbox of
 * schedulers of the release before.
 */
export async function hasEarlierMessages(
  tx: Tx,
  { tenantId, foundAt, tasks }: Pick<OpenErasure, 'tenantId' | 'foundAt' | 'tasks'>,
): Promise<boolean> {
  const { rows } = await tx.query<{ waiting: boolean }>(
    `SELECT EXISTS (SELECT FROM ledger.outbox WHERE created_at <= $1) OR EXISTS (SELECT FROM ledger.events WHERE position IS NULL AND created_at <= $1)
       OR EXISTS (SELECT FROM ledger.events WHERE position > (SELECT p.position FROM ledger.published p) AND created_at <= $1)
       OR EXISTS (
         SELECT FROM ledger.tasks t JOIN ledger.steps s USING (task_seq) WHERE t.tenant_id = $2 AND t.task_id = ANY ($3) AND s.attempt > 0 AND s.claim_id IS NULL AND s.doorbell_seq IS NULL
           AND (s.phase = 'dispatched' AND coalesce(s.ready_at, '-infinity') <= $1 OR s.ended_at > clock_timestamp() - make_interval(secs => $4))
       ) AS waiting`,
    [foundAt, tenantId, tasks, HELD_SECONDS],
  );
  return rows[0]?.waiting ?? true;
}

export type ErasureStep = {
  readonly rows?: number;
  readonly objects?: number;
  readonly messages?: number;
  readonly tasks?: readonly string[];
};

/** Adds what a step erased, in the transaction that did. */
export async function noteErased(
  tx: Tx,
  { redactionId }: Pick<OpenErasure, 'redactionId'>,
  step: ErasureStep,
): Promise<void> {
  await tx.query(
    `UPDATE ledger.erasures SET rows = rows + $2, objects = objects + $3, messages = messages + $4,
       tasks = ARRAY(SELECT DISTINCT x FROM unnest(tasks || $5::text[]) x ORDER BY x) WHERE redaction_id = $1`,
    [redactionId, step.rows ?? 0, step.objects ?? 0, step.messages ?? 0, step.tasks ?? []],
  );
}

/** The end of a look at everything: what it still waits for, or that it is done. */
export async function noteLook(
  tx: Tx,
  { redactionId }: Pick<OpenErasure, 'redactionId'>,
  { waitsFor, found, done }: { readonly waitsFor: readonly string[]; readonly found: boolean; readonly done: boolean },
): Promise<void> {
  await tx.query(
    `UPDATE ledger.erasures SET looked_at = clock_timestamp(), waits_for = $2, found_at = CASE WHEN $3 THEN clock_timestamp() ELSE found_at END,
       done_at = CASE WHEN $4 THEN clock_timestamp() END WHERE redaction_id = $1`,
    [redactionId, waitsFor, found, done],
  );
}
