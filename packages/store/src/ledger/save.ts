import type { TaskState } from '@cleanslate/contracts';
import { isGateOpen, type TransitionRecord } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toPriorityNumber } from '../priority.ts';
import { type Column, Columns, integer, json, text, time } from './columns.ts';
import { type EventText, insertEvents, type NumberedEvent } from './events.ts';
import { TASK_OF_X } from './one-plan.ts';
import type { StoredAggregate } from './rows.ts';
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

/**
 * Keys for tasks that a batch is about to add: its other rows name them, and it is decided
 * before anything of it is written.
 */
export async function takeTaskSeqs(tx: Tx, count: number): Promise<readonly number[]> {
  if (count === 0) return [];
  const { rows } = await tx.query<{ task_seq: number }>(
    `SELECT nextval('ledger.tasks_task_seq_seq') AS task_seq FROM generate_series(1, $1::int4)`,
    [count],
  );
  return rows.map((row) => row.task_seq);
}

/** What changes over a task's life, beside its state. */
const MUTABLE_OF_TASK: Readonly<Record<string, Column<StoredAggregate>>> = {
  round: integer(({ state }) => state.task.round),
  round_base: integer(({ state }) => state.task.roundBase),
  result: json(({ state }) => state.task.result),
  error: json(({ state }) => state.task.error),
  deadline: time(({ state }) => state.task.deadline),
  failing: json(({ state }) => state.task.failing),
  gate: json(({ state }) => state.task.gate),
  gate_expires_at: time(({ state }) => (isGateOpen(state.task) ? (state.task.gate?.expiresAt ?? null) : null)),
  updated_at: time(({ state }) => state.task.updatedAt),
};

const NEW_TASK = new Columns<StoredAggregate>({
  task_seq: integer(({ taskSeq }) => taskSeq, 'int8'),
  tenant_id: text(({ state }) => state.task.tenantId),
  task_id: text(({ state }) => state.task.taskId),
  idempotency_key: text(({ state }) => state.task.idempotencyKey),
  body_hash: text(({ state }) => state.task.bodyHash),
  submit_id: text(({ state }) => state.task.submitId),
  workflow: text(({ state }) => state.task.workflow),
  plan_hash: text(({ state }) => state.task.planHash),
  priority: integer(({ state }) => toPriorityNumber(state.task.priority), 'int2'),
  input: json(({ state }) => state.task.input),
  pin_valid_at: text(({ state }) => state.task.pin.validAt, 'timestamptz'),
  pin_revision: integer(({ state }) => state.task.pin.revision, 'int8'),
  deadline_ms: integer(({ state }) => state.task.deadlineMs, 'int8'),
  traceparent: text(({ state }) => state.task.traceparent),
  forked_from: text(({ state }) => state.task.forkedFrom),
  created_at: time(({ state }) => state.task.createdAt),
  state: text(firstState),
  ...MUTABLE_OF_TASK,
});

/**
 * New tasks, as their batch leaves them: one that has started is inserted as executing (docs/decisions/0052), one that
 * went farther as pending, and moved like any other. Where another scheduler committed a task id or key of theirs
 * meanwhile it fails as serialization does: tried again, the batch finds that task.
 */
async function insertTasks(tx: Tx, changed: Changes['aggregates']): Promise<void> {
  const added = changed.filter(({ before }) => before === null).map(({ after }) => after);
  if (added.length === 0) return;
  await tx.query(
    `WITH added AS (
       INSERT INTO ledger.tasks (${NEW_TASK.names.join(', ')}) OVERRIDING SYSTEM VALUE SELECT ${NEW_TASK.list} ON CONFLICT DO NOTHING RETURNING 1
     )
     SELECT ledger.lose_race() WHERE (SELECT count(*) FROM added) < $${NEW_TASK.names.length + 1}::int8`,
    [...NEW_TASK.parametersOf(added), added.length],
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

const MOVED_TASK = new Columns<StoredAggregate>({
  task_seq: integer(({ taskSeq }) => taskSeq, 'int8'),
  state: text(({ state }) => state.task.state),
  ...MUTABLE_OF_TASK,
});

async function updateTasks(tx: Tx, changed: Changes['aggregates']): Promise<void> {
  const updated = changed.filter(({ before, after }) =>
    before === null ? after.state.task.state !== firstState(after) : before.state.task !== after.state.task,
  );
  if (updated.length === 0) return;
  await tx.query(
    `UPDATE ledger.tasks t SET state = x.state, round = x.round, round_base = x.round_base, result = x.result, error = x.error, deadline = x.deadline, failing = x.failing, gate = x.gate,
       gate_expires_at = x.gate_expires_at, updated_at = x.updated_at
     FROM (SELECT ${MOVED_TASK.list}) x
     WHERE ${TASK_OF_X}`,
    MOVED_TASK.parametersOf(updated.map(({ after }) => after)),
  );
}

const TRANSITION = new Columns<Changes['transitions'][number]>({
  at: time((row) => row.at),
  task_seq: integer((row) => row.taskSeq, 'int8'),
  tenant_id: text((row) => row.tenantId),
  step_id: text((row) => row.stepId),
  from_state: text((row) => row.from),
  to_state: text((row) => row.to),
  trigger: text((row) => row.trigger),
  attempt: integer((row) => row.attempt),
  spent: integer((row) => row.spent),
  round: integer((row) => row.round),
  claim_id: text((row) => row.claimId),
  worker: text((row) => row.worker),
  code: text((row) => row.code),
});

async function insertTransitions(tx: Tx, { transitions }: Changes): Promise<void> {
  if (transitions.length === 0) return;
  await tx.query(
    `INSERT INTO ledger.transitions (${TRANSITION.names.join(', ')}) SELECT ${TRANSITION.list}`,
    TRANSITION.parametersOf(transitions),
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
