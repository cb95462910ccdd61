import type { TaskState } from '@cleanslate/contracts';
import type { TransitionRecord } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toNumberArray, toTextArray } from './arrays.ts';
import { type EventText, insertEvents, type NumberedEvent } from './events.ts';
import { TASK_OF_X } from './one-plan.ts';
import { type StoredAggregate, toMutableTask, toTaskRecord } from './rows.ts';
import { writeHops } from './save-hops.ts';
import { saveSteps } from './save-steps.ts';

/** What a batch changes, collected while it is decided and written with a handful of statements. */
export type Changes = {
  /** Tasks as loaded and as they are now; `before` null for a new one (its `taskSeq` comes from `takeTaskSeqs`). */
  readonly aggregates: readonly { readonly before: StoredAggregate | null; readonly after: StoredAggregate }[];
  readonly transitions: readonly (TransitionRecord & {
    readonly taskSeq: number;
    readonly tenantId: string;
    readonly at: number;
  })[];
  readonly events: readonly EventText[];
  readonly refusals: readonly Refusal[];
};

export type Refusal = {
  readonly at: number;
  readonly tenantId: string;
  readonly taskId: string;
  readonly stepId: string | null;
  readonly attempt: number | null;
  readonly claimId: string | null;
  readonly code: string;
  readonly detail: string;
};

/** Keys for tasks that a batch is about to add: its other rows name them, and it is decided before anything of it is written. */
export async function takeTaskSeqs(tx: Tx, count: number): Promise<readonly number[]> {
  if (count === 0) return [];
  const { rows } = await tx.query<{ task_seq: number }>(
    `SELECT nextval('ledger.tasks_task_seq_seq') AS task_seq FROM generate_series(1, $1::int4)`,
    [count],
  );
  return rows.map((row) => row.task_seq);
}

const TASK_COLUMNS = `task_seq int8, tenant_id text, task_id text, idempotency_key text, body_hash text, submit_id text, workflow text, plan_hash text, state text,
  priority int2, round int4, round_base int4, input json, result json, error json, pin_valid_at timestamptz, pin_revision int8, deadline timestamptz, deadline_ms int8,
  traceparent text, failing json, gate json, gate_expires_at timestamptz, forked_from text, created_at timestamptz, updated_at timestamptz`;
const TASK_NAMES = TASK_COLUMNS.split(',').map((column) => column.trim().split(' ')[0]);

/**
 * New tasks, as their batch leaves them: one that has started is inserted as executing (docs/decisions/0052), one that went farther as pending, and moved like any other.
 * Where another scheduler committed a task id or key of theirs meanwhile it fails as serialization does: tried again, the batch finds that task.
 */
async function insertTasks(tx: Tx, changed: Changes['aggregates']): Promise<void> {
  const added = changed.filter(({ before }) => before === null).map(({ after }) => after);
  if (added.length === 0) return;
  const rows = added.map((after) => ({ ...toTaskRecord(after.taskSeq, after.state.task), state: firstState(after) }));
  await tx.query(
    `WITH added AS (
       INSERT INTO ledger.tasks (${TASK_NAMES.join(', ')}) OVERRIDING SYSTEM VALUE SELECT * FROM json_to_recordset($1) AS t(${TASK_COLUMNS}) ON CONFLICT DO NOTHING RETURNING 1
     )
     SELECT ledger.lose_race() WHERE (SELECT count(*) FROM added) < $2::int8`,
    [JSON.stringify(rows), rows.length],
  );
}

function firstState({ state: { task } }: StoredAggregate): TaskState {
  return task.state === 'executing' ? 'executing' : 'pending';
}

export type Saved = {
  /** With their positions; undefined where they are numbered later. */
  readonly events: readonly NumberedEvent[] | undefined;
  /** This transaction, as its rows name it. */
  readonly xid: string;
};

/** Writes a decided batch; the statements share one round trip. */
export async function saveChanges(tx: Tx, changes: Changes): Promise<Saved> {
  // Sent first, so they are done first.
  const added = insertTasks(tx, changes.aggregates);
  const hops = writeHops(tx, changes.transitions);
  const [events, xid] = await Promise.all([
    insertEvents(tx, changes.events),
    changes.aggregates.length === 0 ? '' : readXid(tx),
    updateTasks(tx, changes.aggregates),
    saveSteps(tx, changes.aggregates),
    insertTransitions(tx, changes),
    insertRefusals(tx, changes.refusals),
    added,
    hops,
  ]);
  return { events, xid };
}

async function readXid(tx: Tx): Promise<string> {
  const { rows } = await tx.query<{ xid: string }>('SELECT pg_current_xact_id()::xid::text AS xid');
  return rows[0]?.xid ?? '';
}

async function updateTasks(tx: Tx, changed: Changes['aggregates']): Promise<void> {
  const updated = changed.filter(({ before, after }) =>
    before === null ? after.state.task.state !== firstState(after) : before.state.task !== after.state.task,
  );
  if (updated.length === 0) return;
  await tx.query(
    `UPDATE ledger.tasks t SET state = x.state, round = x.round, round_base = x.round_base, result = x.result, error = x.error, deadline = x.deadline, failing = x.failing, gate = x.gate,
       gate_expires_at = x.gate_expires_at, updated_at = x.updated_at
     FROM json_to_recordset($1) AS x(task_seq int8, state text, round int4, round_base int4, result json, error json, deadline timestamptz, failing json, gate json,
       gate_expires_at timestamptz, updated_at timestamptz)
     WHERE ${TASK_OF_X}`,
    [JSON.stringify(updated.map(({ after }) => ({ task_seq: after.taskSeq, ...toMutableTask(after.state.task) })))],
  );
}

async function insertTransitions(tx: Tx, { transitions }: Changes): Promise<void> {
  if (transitions.length === 0) return;
  const texts = (of: (row: Changes['transitions'][number]) => string | null) => toTextArray(transitions.map(of));
  const numbers = (of: (row: Changes['transitions'][number]) => number | null) => toNumberArray(transitions.map(of));
  await tx.query(
    `INSERT INTO ledger.transitions (at, task_seq, tenant_id, step_id, from_state, to_state, trigger, attempt, spent, round, claim_id, worker, code)
     SELECT to_timestamp(x."at"::float8 / 1000), x.task_seq, x.tenant_id, x.step_id, x.from_state, x.to_state, x.trigger, x.attempt, x.spent, x.round, x.claim_id, x.worker, x.code
     FROM (
       SELECT unnest($1::int8[]) AS "at", unnest($2::int8[]) AS task_seq, unnest($3::text[]) AS tenant_id, unnest($4::text[]) AS step_id,
         unnest($5::text[]) AS from_state, unnest($6::text[]) AS to_state, unnest($7::text[]) AS trigger, unnest($8::int4[]) AS attempt,
         unnest($9::int4[]) AS spent, unnest($10::int4[]) AS round, unnest($11::text[]) AS claim_id, unnest($12::text[]) AS worker, unnest($13::text[]) AS code
     ) x`,
    [
      numbers((row) => row.at),
      numbers((row) => row.taskSeq),
      texts((row) => row.tenantId),
      texts((row) => row.stepId),
      texts((row) => row.from),
      texts((row) => row.to),
      texts((row) => row.trigger),
      numbers((row) => row.attempt),
      numbers((row) => row.spent),
      numbers((row) => row.round),
      texts((row) => row.claimId),
      texts((row) => row.worker),
      texts((row) => row.code),
    ],
  );
}

export async function insertRefusals(tx: Tx, refusals: readonly Refusal[]): Promise<void> {
  if (refusals.length === 0) return;
  await tx.query(
    `INSERT INTO ledger.refusals (at, tenant_id, task_id, step_id, attempt, claim_id, code, detail)
     SELECT to_timestamp(x."at" / 1000.0), x."tenantId", x."taskId", x."stepId", x.attempt, x."claimId", x.code, x.detail
     FROM json_to_recordset($1) AS x("at" float8, "tenantId" text, "taskId" text, "stepId" text, attempt int4, "claimId" text, code text, detail text)`,
    [JSON.stringify(refusals)],
  );
}
