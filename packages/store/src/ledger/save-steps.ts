import { AppError } from '@cleanslate/contracts';
import type { Step, Task } from '@cleanslate/domain/ledger';
import type { Tx } from '../database.ts';
import { toBooleanArray, toLines, toNumberArray, toTextArray } from './arrays.ts';
import { STEP_OF_X } from './one-plan.ts';
import { type StoredAggregate, toMutableStep, toPriorityNumber, toStepRecord } from './rows.ts';

type Inserted = { readonly taskSeq: number; readonly task: Task; readonly ordinal: number; readonly step: Step };
type Moved = { readonly taskSeq: number; readonly step: Step; readonly old: Step | undefined };

/**
 * Writes the steps that a batch added or changed. Nearly all of them are steps of a plan as they begin, or moves from phase to phase: those have statements of their own
 * with a third of the columns, in arrays instead of JSON.
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
      // A new step that ended in the decision which added it (its condition doesn't hold) begins as pending like any other.
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

async function insertFresh(tx: Tx, rows: readonly Inserted[]): Promise<void> {
  const numbers = (of: (row: Inserted) => number | null) => toNumberArray(rows.map(of));
  const texts = (of: (row: Inserted) => string | null) => toTextArray(rows.map(of));
  await tx.query(
    `INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, round, purpose, phase, attempt, ring,
       due_at, queue_expires_at, ready_at, state, spent, silent_claims, beaten, applied, failures, candidates)
     SELECT x.task_seq, x.step_id, x.ordinal, x.tenant_id, x.workflow, x.priority, x.plan_key, x.role, x.executor, x.after, x.round, x.purpose, x.phase, x.attempt, x.ring,
       to_timestamp(x.due_at::float8 / 1000), to_timestamp(x.queue_expires_at::float8 / 1000), to_timestamp(x.ready_at::float8 / 1000), 'pending', 0, 0, false, '[]', '[]', '[]'
     FROM (
       SELECT unnest($1::int8[]) AS task_seq, unnest($2::text[]) AS step_id, unnest($3::int4[]) AS ordinal, unnest($4::text[]) AS tenant_id,
         unnest($5::text[]) AS workflow, unnest($6::int2[]) AS priority, unnest($7::text[]) AS plan_key, unnest($8::text[]) AS role,
         unnest($9::text[]) AS executor, unnest(string_to_array($10, E'\n')::json[]) AS after, unnest($11::int4[]) AS round, unnest($12::text[]) AS purpose,
         unnest($13::text[]) AS phase, unnest($14::int4[]) AS attempt, unnest($15::int4[]) AS ring, unnest($16::int8[]) AS due_at,
         unnest($17::int8[]) AS queue_expires_at, unnest($18::int8[]) AS ready_at
     ) x`,
    [
      numbers((row) => row.taskSeq),
      texts((row) => row.step.stepId),
      numbers((row) => row.ordinal),
      texts((row) => row.task.tenantId),
      texts((row) => row.task.workflow),
      numbers((row) => toPriorityNumber(row.task.priority)),
      texts((row) => row.step.planKey),
      texts((row) => row.step.role),
      texts((row) => row.step.executor),
      toLines(rows.map(({ step }) => JSON.stringify(step.after))),
      numbers((row) => row.step.round),
      texts((row) => row.step.purpose),
      texts((row) => row.step.phase),
      numbers((row) => row.step.attempt),
      numbers((row) => row.step.ring),
      numbers((row) => toMs(row.step.dueAt)),
      numbers((row) => toMs(row.step.queueExpiresAt)),
      numbers((row) => toMs(row.step.readyAt)),
    ],
  );
}

async function updateMoved(tx: Tx, rows: readonly Moved[]): Promise<void> {
  const numbers = (of: (step: Step) => number | null) => toNumberArray(rows.map(({ step }) => of(step)));
  const texts = (of: (step: Step) => string | null) => toTextArray(rows.map(({ step }) => of(step)));
  const output = ({ step, old }: Moved) =>
    step.output === null || old?.output === step.output ? null : JSON.stringify(step.output);
  await tx.query(
    `UPDATE ledger.steps s SET state = x.state, phase = x.phase, attempt = x.attempt, spent = x.spent, ring = x.ring, silent_claims = x.silent_claims, claim_id = x.claim_id,
       worker = x.worker, beaten = x.beaten, applied = x.applied, due_at = to_timestamp(x.due_at::float8 / 1000), timeout_at = to_timestamp(x.timeout_at::float8 / 1000),
       queue_expires_at = to_timestamp(x.queue_expires_at::float8 / 1000), ready_at = to_timestamp(x.ready_at::float8 / 1000), doorbell_seq = x.doorbell_seq,
       started_at = to_timestamp(x.started_at::float8 / 1000), ended_at = to_timestamp(x.ended_at::float8 / 1000), output = coalesce(x.output, s.output)
     FROM (
       SELECT unnest($1::int8[]) AS task_seq, unnest($2::text[]) AS step_id, unnest($3::text[]) AS state, unnest($4::text[]) AS phase,
         unnest($5::int4[]) AS attempt, unnest($6::int4[]) AS spent, unnest($7::int4[]) AS ring, unnest($8::int4[]) AS silent_claims,
         unnest($9::text[]) AS claim_id, unnest($10::text[]) AS worker, unnest($11::bool[]) AS beaten, unnest(string_to_array($12, E'\n')::json[]) AS applied,
         unnest($13::int8[]) AS due_at, unnest($14::int8[]) AS timeout_at, unnest($15::int8[]) AS queue_expires_at, unnest($16::int8[]) AS ready_at,
         unnest($17::int8[]) AS doorbell_seq, unnest($18::int8[]) AS started_at, unnest($19::int8[]) AS ended_at,
         unnest(string_to_array($20, E'\n', '')::json[]) AS output
     ) x
     WHERE ${STEP_OF_X}`,
    [
      toNumberArray(rows.map((row) => row.taskSeq)),
      texts((step) => step.stepId),
      texts((step) => step.state),
      texts((step) => step.phase),
      numbers((step) => step.attempt),
      numbers((step) => step.spent),
      numbers((step) => step.ring),
      numbers((step) => step.silentClaims),
      texts((step) => step.claimId),
      texts((step) => step.worker),
      toBooleanArray(rows.map(({ step }) => step.beaten)),
      toLines(rows.map(({ step }) => JSON.stringify(step.applied))),
      numbers((step) => toMs(step.dueAt)),
      numbers((step) => toMs(step.timeoutAt)),
      numbers((step) => toMs(step.queueExpiresAt)),
      numbers((step) => toMs(step.readyAt)),
      numbers((step) => step.doorbellSeq),
      numbers((step) => toMs(step.startedAt)),
      numbers((step) => toMs(step.endedAt)),
      toLines(rows.map(output)),
    ],
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

/** Whole milliseconds, as a time read back has them. Throws where it is no number: written as JSON it would be none. */
function toMs(at: number | null): number | null {
  if (at === null) return null;
  if (!Number.isFinite(at)) throw new AppError('INTERNAL', `a time of a step is ${at}`);
  return Math.trunc(at);
}
