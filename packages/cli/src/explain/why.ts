import { type DeadLetterSummary, type StepDetail, type TaskView, toErrorText } from '@cleanslate/contracts';

/** For a person: why it is as it is, and what to do about it (null: nothing). */
export type Why = { readonly because: string; readonly toDo: string | null };

/** From the record alone; an unknown code is printed as it is. */
export function whyOf(
  task: Pick<TaskView, 'taskId' | 'state' | 'error' | 'gate' | 'failing' | 'round'>,
  steps: readonly Pick<StepDetail, 'stepId' | 'role' | 'phase' | 'error' | 'spent' | 'dueAt' | 'worker'>[],
  letters: readonly Pick<DeadLetterSummary, 'letterId' | 'status'>[],
): Why {
  if (task.state === 'completed') return { because: completed(task, steps.length), toDo: null };
  if (task.state === 'failed') return failed(task, steps, letters);
  if (task.gate?.decision === null)
    return {
      because: `the result of ${task.gate.stepId} waits for a person until ${task.gate.expiresAt}`,
      toDo: `slate task show ${task.taskId}, then approve, reject or edit it`,
    };
  if (task.failing)
    return { because: `it will have failed with ${task.failing.code}; finished steps are being undone`, toDo: null };
  return running(steps);
}

function completed({ gate, round }: Pick<TaskView, 'gate' | 'round'>, steps: number): string {
  const person = gate?.by === 'person' ? `, and a person ${gate.decision} the result` : '';
  return `all ${steps} steps ended${round > 1 ? ` in ${round} rounds` : ''}${person}`;
}

const REMEDIES: Readonly<Record<string, string>> = {
  CANCELLED: 'nothing: somebody asked for it; `slate task retry` runs it again',
  DEADLINE_EXCEEDED: 'more time: `slate task retry --deadline 2h`; are there workers enough? `slate top`',
  QUEUE_EXPIRED: 'start workers of that role (`slate top` shows which has none), then `slate task retry`',
  RINGS_EXHAUSTED: 'are workers of that role connected? `slate doctor`, then `slate task retry`',
  VALIDATION_REJECTED: 'see the validator’s reasons above; fix the input or the knowledge, then submit again or fork',
  VALIDATION_EXHAUSTED: 'see what each round was sent back with; fix the executor or the knowledge, then fork',
  GATE_REJECTED: 'a person rejected it; fork it from the step that is to be done otherwise',
  GATE_EXPIRED: 'nobody decided in time: `slate task retry` asks again',
  OUTPUT_CONTRACT: 'the executor’s output does not fit its contract: fix it, then replay the dead letter',
  UNKNOWN_EXECUTOR: 'no worker has that executor: start one that does, then replay the dead letter',
  INVALID_INPUT: 'fix the input: `slate dlq replay --set`, or submit again',
};

function failed(
  { taskId, error }: Pick<TaskView, 'taskId' | 'error'>,
  steps: readonly Pick<StepDetail, 'stepId' | 'role' | 'error' | 'spent'>[],
  letters: readonly Pick<DeadLetterSummary, 'letterId' | 'status'>[],
): Why {
  const guilty =
    steps.find((step) => step.error !== null && step.error.code === error?.code) ?? steps.find((step) => step.error);
  const text = error === null ? null : toErrorText(error);
  const where = guilty ? `step ${guilty.stepId} (${guilty.role}) ` : 'it ';
  const tries = guilty && guilty.spent > 1 ? ` after ${guilty.spent} tries` : '';
  const because = `${where}failed${tries} with ${error?.code ?? 'no code'}: ${text?.what ?? ''}`;
  const open = letters.find((letter) => letter.status === 'open');
  const replay = open
    ? `slate dlq show '${open.letterId}'; once its cause is fixed, slate dlq replay '${open.letterId}'`
    : undefined;
  const then = REMEDIES[error?.code ?? ''] ?? replay ?? `once its cause is fixed: slate task retry ${taskId}`;
  return { because, toDo: text?.remedy === undefined ? then : `${text.remedy}; ${then}` };
}

function running(steps: readonly Pick<StepDetail, 'stepId' | 'role' | 'phase' | 'dueAt' | 'worker'>[]): Why {
  const parts = steps.flatMap(({ stepId, role, phase, dueAt, worker }) => {
    if (phase === 'executing') return [`${stepId} runs on ${worker ?? 'a worker'}`];
    if (phase === 'dispatched') return [`${stepId} waits for a worker of role ${role} to take it`];
    if (phase === 'ready') return [`${stepId} waits for a slot of role ${role}`];
    return phase === 'backing_off' ? [`${stepId} is tried again at ${dueAt ?? '?'}`] : [];
  });
  const waits = steps.some(({ phase }) => phase === 'ready' || phase === 'dispatched');
  return {
    because: parts.length === 0 ? 'nothing of it can run at the moment' : parts.join('; '),
    toDo: waits ? 'slate top shows which role has no worker or no free slot' : null,
  };
}
