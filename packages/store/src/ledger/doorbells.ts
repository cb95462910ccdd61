import type { Tx } from '../database.ts';
import { toNumberArray, toTextArray } from './arrays.ts';
import { PHASE, STEP_OF_X } from './one-plan.ts';

/** The doorbell of one attempt: everything it says is in the row of its step. */
export type DoorbellKey = {
  readonly taskSeq: number;
  readonly stepId: string;
  readonly attempt: number;
  readonly ring: number;
};

/** Stored by the broker, and where. */
export type StoredDoorbell = DoorbellKey & { readonly streamSequence: number };

/** The last one of a page; the next page begins after it. `due` is the database's own text. */
type LeftPlace = { readonly due: string; readonly taskSeq: number; readonly stepId: string };

/** `at`: the database's clock, milliseconds. `last`: undefined if the page is not full. */
export type LeftDoorbells = {
  readonly at: number;
  readonly doorbells: readonly DoorbellKey[];
  readonly last: LeftPlace | undefined;
};

const BEGINNING: LeftPlace = { due: '-infinity', taskSeq: 0, stepId: '' };

/**
 * Doorbells of which no PubAck is on record although they were due to be published `olderThanMs` ago (their process
 * died, the broker was away, or the note got lost), oldest first. A step is dispatched with its ring check
 * `ringCheckMs` ahead. Looks at dispatched steps only, of which admission lets out no more than there are slots for.
 */
export async function findLeftDoorbells(
  tx: Tx,
  { olderThanMs, ringCheckMs }: { readonly olderThanMs: number; readonly ringCheckMs: number },
  limit: number,
  behind: LeftPlace = BEGINNING,
): Promise<LeftDoorbells> {
  const { rows } = await tx.query<DoorbellKey & { readonly due: string; readonly now_ms: number }>(
    `SELECT task_seq AS "taskSeq", step_id AS "stepId", attempt, ring, due_at::text AS due, (extract(epoch FROM now()) * 1000)::int8 AS now_ms FROM ledger.steps
     WHERE phase = 'dispatched' AND doorbell_seq IS NULL AND due_at <= now() + make_interval(secs => $1::float8 / 1000)
       AND (due_at, task_seq, step_id) > ($3::timestamptz, $4::int8, $5::text) ORDER BY due_at, task_seq, step_id LIMIT $2`,
    [ringCheckMs - olderThanMs, limit, behind.due, behind.taskSeq, behind.stepId],
  );
  const doorbells = rows.map(({ taskSeq, stepId, attempt, ring }) => ({ taskSeq, stepId, attempt, ring }));
  return { at: rows[0]?.now_ms ?? 0, doorbells, last: rows.length < limit ? undefined : rows.at(-1) };
}

/**
 * PubAcks have come: the stream sequence is stored on each step whose doorbell nobody has answered meanwhile (a claim
 * says more than a PubAck). A step that a batch is changing right now is left out: if it still waits then, the doorbell
 * is published again under its message id, and the broker returns the sequence once more.
 */
export async function noteDoorbells(tx: Tx, stored: readonly StoredDoorbell[]): Promise<void> {
  if (stored.length === 0) return;
  await tx.query(
    `WITH locked AS (
       SELECT l.task_seq, l.step_id, x.seq FROM unnest($1::int8[], $2::text[], $3::int4[], $4::int4[], $5::int8[]) AS x(task_seq, step_id, attempt, ring, seq) CROSS JOIN LATERAL (
         SELECT s.task_seq, s.step_id FROM ledger.steps s WHERE ${STEP_OF_X} AND ${PHASE} = 'dispatched' AND s.attempt = x.attempt AND s.ring = x.ring
           AND s.doorbell_seq IS NULL FOR UPDATE SKIP LOCKED
       ) l
     )
     UPDATE ledger.steps s SET doorbell_seq = x.seq FROM locked x WHERE ${STEP_OF_X}`,
    [
      toNumberArray(stored.map((each) => each.taskSeq)),
      toTextArray(stored.map((each) => each.stepId)),
      toNumberArray(stored.map((each) => each.attempt)),
      toNumberArray(stored.map((each) => each.ring)),
      toNumberArray(stored.map((each) => each.streamSequence)),
    ],
  );
}

/**
 * Schedulers of the release before also wrote each doorbell into the outbox, and removed it again. What one of them
 * left there when it died says nothing that its step does not say.
 */
export async function forgetOutbox(tx: Tx): Promise<void> {
  await tx.query(`DELETE FROM ledger.outbox WHERE created_at < now() - interval '1 minute'`);
}
