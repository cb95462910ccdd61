import { AppError, type ErrorBody, type StepDetail, type TaskState } from '@cleanslate/contracts';
import type { Tx } from '../database.ts';
import { toErrorBody, toTime } from './rows.ts';

/**
 * Outputs of one task in one answer; what is beyond is named by its size. Leaves room for the
 * rest below a message's limit.
 */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

export type StepRow = {
  readonly step_id: string;
  readonly role: string;
  readonly executor: string;
  readonly state: TaskState;
  readonly phase: string;
  readonly round: number;
  readonly attempt: number;
  readonly spent: number;
  readonly worker: string | null;
  readonly error: unknown;
  readonly due_at: Date | null;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
};
export const STEP_COLUMNS =
  'step_id, role, executor, state, phase, round, attempt, spent, worker, error, due_at, started_at, ended_at';

type DetailRow = StepRow & {
  readonly plan_key: string;
  readonly after: string[];
  readonly supersedes: string | null;
  readonly purpose: StepDetail['purpose'];
  readonly output: string | null;
  readonly feedback: unknown[] | null;
  readonly failures: { readonly at: number; readonly attempt: number; readonly error: ErrorBody }[];
  readonly tokens: number;
  readonly candidates: string[];
  readonly copied_from: string | null;
};

/** Steps of a task of the transaction's tenant, in the order in which they were added. Throws `NOT_FOUND`. */
export async function findTaskSteps(tx: Tx, taskId: string): Promise<StepDetail[]> {
  const { rows } = await tx.query<DetailRow>(
    `SELECT ${STEP_COLUMNS}, plan_key, after, supersedes, purpose, output::text AS output, feedback, failures, tokens, candidates, copied_from
     FROM ledger.steps WHERE task_seq = (SELECT task_seq FROM ledger.tasks WHERE tenant_id = current_setting('cleanslate.tenant') AND task_id = $1)
     ORDER BY ordinal`,
    [taskId],
  );
  // Every plan has a step.
  if (rows.length === 0) throw new AppError('NOT_FOUND', `no task ${taskId}: \`slate task list\` shows the ids`);
  let room = MAX_OUTPUT_BYTES;
  return rows.map((row) => {
    const outputBytes = row.output === null ? null : Buffer.byteLength(row.output);
    const fits = outputBytes !== null && outputBytes <= room;
    if (fits) room -= outputBytes;
    const output = fits && row.output !== null ? JSON.parse(row.output) : null;
    return { ...toDetail(row, output, outputBytes), after: afterOf(row, rows) };
  });
}

/**
 * With the steps that the plan grew from one it waits for: by the rule of the machine they are waited for likewise,
 * whatever was stored when it was planned.
 */
function afterOf({ purpose, after }: DetailRow, rows: readonly DetailRow[]): string[] {
  if (purpose !== 'work') return after;
  const keys = new Set(rows.filter(({ step_id }) => after.includes(step_id)).map(({ plan_key }) => plan_key));
  const grown = rows.filter((row) => row.purpose === 'evidence' && row.feedback === null && keys.has(row.plan_key));
  return [...new Set([...after, ...grown.map(({ step_id }) => step_id)])];
}

function toDetail(row: DetailRow, output: unknown, outputBytes: number | null): Omit<StepDetail, 'after'> {
  return {
    ...toStepView(row),
    planKey: row.plan_key,
    supersedes: row.supersedes,
    purpose: row.purpose,
    output,
    outputBytes,
    feedback: row.feedback,
    failures: row.failures.map(({ at, attempt, error }) => ({
      at: new Date(at).toISOString(),
      attempt,
      error: toErrorBody(error) ?? { code: 'INTERNAL', disposition: 'terminal', message: '' },
    })),
    tokens: row.tokens,
    candidates: row.candidates,
    copiedFrom: row.copied_from,
  };
}

export function toStepView(row: StepRow) {
  return {
    stepId: row.step_id,
    role: row.role,
    executor: row.executor,
    state: row.state,
    phase: row.phase,
    round: row.round,
    attempt: row.attempt,
    spent: row.spent,
    worker: row.worker,
    error: toErrorBody(row.error),
    dueAt: toTime(row.due_at),
    startedAt: toTime(row.started_at),
    endedAt: toTime(row.ended_at),
  };
}
