import type { Step, Task } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toPriorityNumber } from '../priority.ts';
import { boolean, Columns, integer, json, text, time } from './columns.ts';
import { STEP_OF_X } from './one-plan.ts';
import { type StoredAggregate, toMutableStep, toStepRecord } from './rows.ts';

type Inserted = { readonly taskSeq: number; readonly task: Task; readonly ordinal: number; readonly step: Step };
type Moved = { readonly taskSeq: number; readonly step: Step; readonly old: Step | undefined };

/**
 * Writes the steps that a batch added or changed. Nearly all of them are steps of a plan as they begin, or moves from
 * phase to phase: those have statements of their own with a third of the columns, in arrays instead of JSON.
 */
export async function saveSteps(
  tx: Tx,
  aggregates: readonly { readonly before: StoredAggregate | null; readonly after: StoredAggregate }[],
): Promise<void> {
  const fresh: Inserted[] = [];
  const added: Inserted[] = [];
  const moved: Moved[] = [];
  const changed: Moved[] = [];
  for (const { before, after } of aggregates) {
    const { taskSeq, state } = after;
    state.steps.forEach((step, ordinal) => {
      // Steps are only ever added behind the others.
      const old = before?.state.steps[ordinal];
      if (old === step) return;
      const first = asInserted(step);
      if (old === undefined) (isFresh(first) ? fresh : added).push({ taskSeq, task: state.task, ordinal, step: first });
      // A new step that ended in the decision which added it (its condition doesn't hold)
      // begins as pending like any other.
      if (old !== undefined || first !== step)
        (old !== undefined && isMove(old, step) ? moved : changed).push({ taskSeq, step, old });
    });
  }
  await Promise.all([
    fresh.length > 0 ? insertFresh(tx, fresh) : undefined,
    added.length > 0 ? insertAdded(tx, added) : undefined,
    moved.length > 0 ? updateMoved(tx, moved) : undefined,
    changed.length > 0 ? updateChanged(tx, changed) : undefined,
  ]);
}

function asInserted(step: Step): Step {
  const begins = step.state === 'pending' || step.copiedFrom !== null;
  return begins ? step : { ...step, state: 'pending', phase: 'blocked', dueAt: null };
}

/** As a plan's steps begin: nothing has happened to it but that it may have become ready, or been dispatched. */
function isFresh(step: Step): boolean {
  return (
    step.state === 'pending' &&
    step.claimId === null &&
    step.copiedFrom === null &&
    step.feedback === null &&
    step.supersedes === null &&
    step.error === null &&
    step.output === null &&
    (step.inputEdit ?? null) === null &&
    step.replayOf === null &&
    step.failures.length + step.candidates.length + step.applied.length + step.spent + step.tokens === 0
  );
}

/** Only what each step goes through changed: no failure, no candidates, nobody's edit. */
function isMove(old: Step, step: Step): boolean {
  return (
    old.error === step.error &&
    old.failures === step.failures &&
    (old.candidates === step.candidates || old.candidates.length + step.candidates.length === 0) &&
    old.inputEdit === step.inputEdit &&
    old.replayOf === step.replayOf &&
    old.tokens === step.tokens
  );
}

const FRESH_STEP = new Columns<Inserted>({
  task_seq: integer((row) => row.taskSeq, 'int8'),
  step_id: text(({ step }) => step.stepId),
  ordinal: integer((row) => row.ordinal),
  tenant_id: text(({ task }) => task.tenantId),
  workflow: text(({ task }) => task.workflow),
  priority: integer(({ task }) => toPriorityNumber(task.priority), 'int2'),
  plan_key: text(({ step }) => step.planKey),
  role: text(({ step }) => step.role),
  executor: text(({ step }) => step.executor),
  after: json(({ step }) => step.after),
  round: integer(({ step }) => step.round),
  purpose: text(({ step }) => step.purpose),
  phase: text(({ step }) => step.phase),
  attempt: integer(({ step }) => step.attempt),
  ring: integer(({ step }) => step.ring),
  due_at: time(({ step }) => step.dueAt),
  queue_expires_at: time(({ step }) => step.queueExpiresAt),
  ready_at: time(({ step }) => step.readyAt),
});

async function insertFresh(tx: Tx, rows: readonly Inserted[]): Promise<void> {
  await tx.query(
    `INSERT INTO ledger.steps (${FRESH_STEP.names.join(', ')}, state, spent, silent_claims, beaten, applied, failures, candidates)
     SELECT ${FRESH_STEP.list}, 'pending', 0, 0, false, '[]', '[]', '[]'`,
    FRESH_STEP.parametersOf(rows),
  );
}

const MOVED_STEP = new Columns<Moved>({
  task_seq: integer((row) => row.taskSeq, 'int8'),
  step_id: text(({ step }) => step.stepId),
  state: text(({ step }) => step.state),
  phase: text(({ step }) => step.phase),
  attempt: integer(({ step }) => step.attempt),
  spent: integer(({ step }) => step.spent),
  ring: integer(({ step }) => step.ring),
  silent_claims: integer(({ step }) => step.silentClaims),
  claim_id: text(({ step }) => step.claimId),
  worker: text(({ step }) => step.worker),
  beaten: boolean(({ step }) => step.beaten),
  applied: json(({ step }) => step.applied),
  due_at: time(({ step }) => step.dueAt),
  timeout_at: time(({ step }) => step.timeoutAt),
  queue_expires_at: time(({ step }) => step.queueExpiresAt),
  ready_at: time(({ step }) => step.readyAt),
  doorbell_seq: integer(({ step }) => step.doorbellSeq, 'int8'),
  started_at: time(({ step }) => step.startedAt),
  ended_at: time(({ step }) => step.endedAt),
  output: json(({ step, old }) => (old?.output === step.output ? null : step.output)),
});

async function updateMoved(tx: Tx, rows: readonly Moved[]): Promise<void> {
  await tx.query(
    `UPDATE ledger.steps s SET state = x.state, phase = x.phase, attempt = x.attempt, spent = x.spent, ring = x.ring, silent_claims = x.silent_claims, claim_id = x.claim_id,
       worker = x.worker, beaten = x.beaten, applied = x.applied, due_at = x.due_at, timeout_at = x.timeout_at, queue_expires_at = x.queue_expires_at, ready_at = x.ready_at,
       doorbell_seq = x.doorbell_seq, started_at = x.started_at, ended_at = x.ended_at, output = coalesce(x.output, s.output)
     FROM (SELECT ${MOVED_STEP.list}) x
     WHERE ${STEP_OF_X}`,
    MOVED_STEP.parametersOf(rows),
  );
}

const MUTABLE_COLUMNS = `state text, phase text, attempt int4, spent int4, ring int4, silent_claims int4, claim_id text, worker text, beaten bool, applied json,
  due_at timestamptz, timeout_at timestamptz, queue_expires_at timestamptz, ready_at timestamptz, doorbell_seq int8, started_at timestamptz, ended_at timestamptz, output json, input_edit json,
  error json, failures json, candidates json, replay_of text, tokens int8`;
const FIXED_COLUMNS =
  'task_seq int8, step_id text, ordinal int4, tenant_id text, workflow text, priority int2, plan_key text, supersedes text, role text, executor text, after json, round int4, feedback json, purpose text, copied_from text';
const ALL_COLUMNS = `${FIXED_COLUMNS}, ${MUTABLE_COLUMNS}`;
const NAMES = ALL_COLUMNS.split(',').map((column) => column.trim().split(' ')[0]);

async function insertAdded(tx: Tx, rows: readonly Inserted[]): Promise<void> {
  await tx.query(
    `INSERT INTO ledger.steps (${NAMES.join(', ')}) SELECT * FROM json_to_recordset($1) AS x(${ALL_COLUMNS})`,
    [JSON.stringify(rows.map(({ taskSeq, task, ordinal, step }) => toStepRecord(taskSeq, task, ordinal, step)))],
  );
}

async function updateChanged(tx: Tx, rows: readonly Moved[]): Promise<void> {
  const records = rows.map(({ taskSeq, step, old }) => ({
    task_seq: taskSeq,
    step_id: step.stepId,
    ...toMutableStep(step),
    ...(old?.output === step.output ? { output: null } : {}),
    ...(old?.inputEdit === step.inputEdit ? { input_edit: null } : {}),
  }));
  await tx.query(
    `UPDATE ledger.steps s SET state = x.state, phase = x.phase, attempt = x.attempt, spent = x.spent, ring = x.ring, silent_claims = x.silent_claims, claim_id = x.claim_id,
       worker = x.worker, beaten = x.beaten, applied = x.applied, due_at = x.due_at, timeout_at = x.timeout_at, queue_expires_at = x.queue_expires_at,
       ready_at = x.ready_at, doorbell_seq = x.doorbell_seq, started_at = x.started_at, ended_at = x.ended_at, output = coalesce(x.output, s.output), input_edit = coalesce(x.input_edit, s.input_edit), error = x.error,
       failures = x.failures, candidates = x.candidates, replay_of = x.replay_of, tokens = x.tokens
     FROM json_to_recordset($1) AS x(task_seq int8, step_id text, ${MUTABLE_COLUMNS})
     WHERE ${STEP_OF_X}`,
    [JSON.stringify(records)],
  );
}
