import type { DeadLettered, ErrorBody } from '@cleanslate/contracts';
import { HEADERS } from '@cleanslate/contracts';
import type { Step, Task } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { type HistoryEntry, iso, mergeHistory } from './dead-letters-history.ts';

export type StepLetter = {
  readonly task: Task;
  readonly step: Step;
  readonly error: ErrorBody;
  readonly now: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The letter whose replay this failure was: the story goes on from there. */
  readonly replayOf: string | null;
};

/** Bulk replays of one story; then it is parked, and bulk replays leave it alone until a person looked. */
export const MAX_BULK_REPLAYS = 3;

type Parent = {
  readonly letter_id: string;
  readonly attempt: number | null;
  readonly lineage: string;
  readonly replays: number;
  readonly bulk_replays: number;
  readonly history: HistoryEntry[];
  readonly first_failed_at: Date;
};

async function findParent(tx: Tx, tenantId: string | null, id: string | null): Promise<Parent | undefined> {
  if (id === null || tenantId === null) return undefined;
  const { rows } = await tx.query<Parent>(
    'SELECT letter_id, attempt, lineage, replays, bulk_replays, history, first_failed_at FROM ledger.dead_letters WHERE letter_id = $1 AND tenant_id = $2',
    [id, tenantId],
  );
  return rows[0];
}

/**
 * The record of work given up on, one per attempt: given up again before a new one began (a retry that met its
 * deadline), it is open again.
 */
export async function insertStepLetters(tx: Tx, letters: readonly StepLetter[]): Promise<void> {
  for (const letter of letters) await insertStepLetter(tx, letter);
}

async function insertStepLetter(tx: Tx, letter: StepLetter): Promise<void> {
  const { task, step, error, now, subject, headers, body, replayOf } = letter;
  const parent = await findParent(tx, task.tenantId, replayOf);
  const failures: HistoryEntry[] = step.failures
    .filter((failure) => failure.attempt > (parent?.attempt ?? 0))
    .map((failure) => ({
      at: iso(failure.at),
      attempt: failure.attempt,
      what: 'attempt_failed',
      error: failure.error,
    }));
  const end = { at: iso(now), attempt: step.attempt, what: 'given_up', error };
  const history = mergeHistory(parent?.history ?? [], [...failures, end]);
  await tx.query(
    `INSERT INTO ledger.dead_letters (letter_id, tenant_id, task_id, step_id, attempt, role, workflow, stream, subject, headers, body, reason, error, history,
       replays, bulk_replays, needs_human, lineage, replay_of, first_failed_at, last_failed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'COMMANDS', $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
     ON CONFLICT (tenant_id, task_id, step_id, attempt) DO UPDATE SET status = 'open', outcome = NULL, settled_at = NULL, reason = excluded.reason, error = excluded.error,
       history = excluded.history, needs_human = excluded.needs_human, last_failed_at = excluded.last_failed_at`,
    [
      letterId(task, step),
      task.tenantId,
      task.taskId,
      step.stepId,
      step.attempt,
      step.role,
      task.workflow,
      subject,
      JSON.stringify(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))),
      Buffer.from(body),
      error.code,
      JSON.stringify(error),
      JSON.stringify(history),
      ...lineageOf(parent, letterId(task, step)),
      parent?.first_failed_at ?? failures[0]?.at ?? iso(now),
      iso(now),
    ],
  );
}

export function letterId(task: Pick<Task, 'tenantId' | 'taskId'>, step: Pick<Step, 'stepId' | 'attempt'>): string {
  return `${task.tenantId}.${task.taskId}.${step.stepId}.${step.attempt}`;
}

/** replays, bulk_replays, needs_human, lineage, replay_of. */
function lineageOf(parent: Parent | undefined, id: string): readonly unknown[] {
  const bulk = parent?.bulk_replays ?? 0;
  const replayOf = parent === undefined || parent.letter_id === id ? null : parent.letter_id;
  return [parent?.replays ?? 0, bulk, bulk >= MAX_BULK_REPLAYS, parent?.lineage ?? id, replayOf];
}

/**
 * A message that belonged to no attempt, as a service's own dead-letter publication tells it. Unique by stream, its
 * creation time and sequence. One that was a replay takes its letter's story over, and that letter is closed. What is
 * said again and again (`HEADERS.repeats`) and fails for the same reason is one letter.
 */
export async function insertMessageLetter(tx: Tx, letter: DeadLettered, tenantId: string | null): Promise<void> {
  const created = new Date(letter.streamCreated);
  const id = `${letter.stream}.${created.getTime()}.${letter.streamSequence}`;
  const parent = await findParent(tx, tenantId, letter.headers[HEADERS.replayOf]?.[0] ?? null);
  const what = `delivered ${letter.deliveries} times`;
  const failure = { at: letter.failedAt, attempt: null, what, error: letter.error };
  if (parent === undefined && (await addToRepeated(tx, tenantId, letter, failure))) return;
  const history = mergeHistory(parent?.history ?? [], [failure]);
  const { rows } = await tx.query(
    `INSERT INTO ledger.dead_letters (letter_id, tenant_id, stream, stream_created, stream_sequence, consumer, subject, headers, body, reason, error, history,
       replays, bulk_replays, needs_human, lineage, replay_of, first_failed_at, last_failed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) ON CONFLICT DO NOTHING RETURNING letter_id`,
    [
      id,
      tenantId,
      letter.stream,
      created,
      letter.streamSequence,
      letter.consumer,
      letter.subject,
      JSON.stringify(letter.headers),
      Buffer.from(letter.body, 'base64'),
      letter.error.code,
      JSON.stringify(letter.error),
      JSON.stringify(history),
      ...lineageOf(parent, id),
      parent?.first_failed_at ?? letter.failedAt,
      letter.failedAt,
    ],
  );
  if (rows.length > 0 && parent !== undefined) {
    await tx.query(
      `UPDATE ledger.dead_letters SET status = 'closed', outcome = 'failed_again', settled_at = now() WHERE letter_id = $1 AND status IN ('replaying', 'closed')`,
      [parent.letter_id],
    );
  }
}

/**
 * Whether the letter of what was said before has taken this failure in. It stays as it is, discarded ones too; its
 * bytes are the last ones said.
 */
async function addToRepeated(
  tx: Tx,
  tenantId: string | null,
  letter: DeadLettered,
  failure: HistoryEntry,
): Promise<boolean> {
  const repeats = letter.headers[HEADERS.repeats]?.[0];
  if (repeats === undefined || tenantId === null) return false;
  // Of two that are taken in at the same time, each would see no letter yet. One lock for all: they are rare, and in no
  // order that two transactions share.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtext('ledger.repeated-letters'))`);
  const { rows } = await tx.query<Pick<Parent, 'letter_id' | 'history'>>(
    `SELECT letter_id, history FROM ledger.dead_letters
     WHERE tenant_id = $1 AND task_id IS NULL AND status <> 'closed' AND consumer = $2 AND reason = $3 AND headers -> $4 ->> 0 = $5
     ORDER BY last_failed_at DESC LIMIT 1 FOR UPDATE`,
    [tenantId, letter.consumer, letter.error.code, HEADERS.repeats, repeats],
  );
  const [known] = rows;
  if (known === undefined) return false;
  // The same letter may come twice.
  if (known.history.some(({ at }) => at === failure.at)) return true;
  await tx.query(
    'UPDATE ledger.dead_letters SET history = $2, error = $3, headers = $4, body = $5, last_failed_at = $6 WHERE letter_id = $1',
    [
      known.letter_id,
      JSON.stringify(mergeHistory(known.history, [failure])),
      JSON.stringify(letter.error),
      JSON.stringify(letter.headers),
      Buffer.from(letter.body, 'base64'),
      letter.failedAt,
    ],
  );
  return true;
}
