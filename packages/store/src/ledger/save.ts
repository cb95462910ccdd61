import type { Task, TransitionRecord } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toNumberArray, toTextArray } from './arrays.ts';
import { type EventText, insertEvents, type NumberedEvent } from './events.ts';
import { TASK_OF_X } from './one-plan.ts';
import { type StoredAggregate, toTaskRecord } from './rows.ts';
import { writeHops } from './save-hops.ts';
import { saveSteps } from './save-steps.ts';

/** What a batch changes, collected while it is decided and written with a handful of statements. */
export type Changes = {
  /** Tasks as loaded and as they are now; `before` null for a new one (its `taskSeq` comes from `insertTasks`). */
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

const TASK_COLUMNS = `task_seq int8, tenant_id text, task_id text, idempotency_key text, body_hash text, submit_id text, workflow text, plan_hash text, state text,
  priority int2, round int4, round_base int4, input json, result json, error json, pin_valid_at timestamptz, pin_revision int8, deadline timestamptz, deadline_ms int8,
  traceparent text, forked_from text, created_at timestamptz, updated_at timestamptz`;

/** New tasks; a row whose task id or key exists already (committed by another scheduler meanwhile) is left out of the result. */
export async function insertTasks(tx: Tx, tasks: readonly Task[]): Promise<ReadonlyMap<string, number>> {
  if (tasks.length === 0) return new Map();
  const { rows } = await tx.query<{ task_seq: number; tenant_id: string; task_id: string }>(
    `INSERT INTO ledger.tasks (tenant_id, task_id, idempotency_key, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, result, error,
       pin_valid_at, pin_revision, deadline, deadline_ms, traceparent, forked_from, created_at, updated_at)
     SELECT tenant_id, task_id, idempotency_key, body_hash, submit_id, workflow, plan_hash, 'pending', priority, round, round_base, input, result, error,
       pin_valid_at, pin_revision, deadline, deadline_ms, traceparent, forked_from, created_at, updated_at
     FROM json_to_recordset($1) AS t(${TASK_COLUMNS})
     ON CONFLICT DO NOTHING RETURNING task_seq, tenant_id, task_id`,
    [JSON.stringify(tasks.map((task) => toTaskRecord(null, task)))],
  );
  return new Map(rows.map((row) => [`${row.tenant_id}/${row.task_id}`, row.task_seq]));
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
  const hops = writeHops(tx, changes.transitions);
  const [events, xid] = await Promise.all([
    insertEvents(tx, changes.events),
    changes.aggregates.length === 0 ? '' : readXid(tx),
    updateTasks(tx, changes.aggregates),
    saveSteps(tx, changes.aggregates),
    insertTransitions(tx, changes),
    insertRefusals(tx, changes.refusals),
    hops,
  ]);
  return { events, xid };
}

async function readXid(tx: Tx): Promise<string> {
  const { rows } = await tx.query<{ xid: string }>('SELECT pg_current_xact_id()::xid::text AS xid');
  return rows[0]?.xid ?? '';
}

async function updateTasks(tx: Tx, changed: Changes['aggregates']): Promise<void> {
  // A new task was inserted as pending; its first step may have been dispatched in the same batch.
  const updated = changed.filter(({ before, after }) =>
    before === null ? after.state.task.state !== 'pending' : before.state.task !== after.state.task,
  );
  if (updated.length === 0) return;
  await tx.query(
    `UPDATE ledger.tasks t SET state = x.state, round = x.round, round_base = x.round_base, result = x.result, error = x.error, deadline = x.deadline, failing = x.failing, gate = x.gate,
       gate_expires_at = x.gate_expires_at, updated_at = x.updated_at
     FROM json_to_recordset($1) AS x(task_seq int8, state text, round int4, round_base int4, result json, error json, deadline timestamptz, failing json, gate json,
       gate_expires_at timestamptz, updated_at timestamptz)
     WHERE ${TASK_OF_X}`,
    [JSON.stringify(updated.map(({ after }) => mutableTask(after)))],
  );
}

function mutableTask({ taskSeq, state }: StoredAggregate): Record<string, unknown> {
  const {
    state: name,
    round,
    round_base,
    result,
    error,
    deadline,
    failing,
    gate,
    gate_expires_at,
    updated_at,
  } = toTaskRecord(taskSeq, state.task);
  return {
    ...{ task_seq: taskSeq, state: name, round, round_base, result, error, deadline },
    ...{ failing, gate, gate_expires_at, updated_at },
  };
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
