import { AppError, type JsonObject, MAX_INLINE_BYTES } from '@cleanslate/contracts';
import type { Decided } from './decide.ts';
import { buildInput } from './mapping.ts';
import { type Aggregate, findStep } from './state.ts';

type StepReplay = {
  /** Of the replayed letter; null if the task itself is retried. */
  readonly stepId: string | null;
  /** Replaces what the plan maps. */
  readonly input: JsonObject | null;
  /** Letters of other failed steps of the task, which this retry replays as well. */
  readonly others: readonly { readonly letterId: string; readonly stepId: string }[];
};

/**
 * What a decided retry must record: an operator's input, and the letters of every step that it reopened. Returns the
 * letters that are replayed with it.
 */
export function attachReplay(
  before: Aggregate,
  decided: Decided,
  { stepId, input, others }: StepReplay,
): { readonly decided: Decided; readonly taken: readonly string[] } {
  const letterOf = new Map(others.map((letter) => [letter.stepId, letter.letterId]));
  const taken: string[] = [];
  const steps = decided.state.steps.map((step) => {
    const reopened = findStep(before, step.stepId)?.phase === 'failed' && step.phase !== 'failed';
    if (!reopened) return step;
    if (step.stepId === stepId) return input === null ? step : { ...step, inputEdit: input };
    const other = letterOf.get(step.stepId);
    if (other === undefined) return step;
    taken.push(other);
    return { ...step, replayOf: other };
  });
  return { decided: { ...decided, state: { ...decided.state, steps } }, taken };
}

/**
 * Throws `PAYLOAD_TOO_LARGE`, and `INVALID_INPUT` if an edited input has other fields than the plan maps for the step:
 * its executor would refuse it, one attempt too late.
 */
export function checkInputEdit(state: Aggregate, stepId: string, input: JsonObject): void {
  const step = findStep(state, stepId);
  const planned = state.plan.steps.find((candidate) => candidate.key === step?.planKey);
  if (step === undefined || planned === undefined)
    throw new AppError(
      'INVALID_INPUT',
      `step "${stepId}" is not in the task's plan: replay the letter without an edit`,
    );
  const characters = JSON.stringify(input).length;
  if (characters > MAX_INLINE_BYTES)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `the input has ${characters} characters; at most ${MAX_INLINE_BYTES} travel`,
    );
  const wanted = Object.keys(buildInput(state, planned, step));
  const missing = wanted.filter((field) => !Object.hasOwn(input, field));
  const unknown = Object.keys(input).filter((field) => !wanted.includes(field));
  if (missing.length === 0 && unknown.length === 0) return;
  const faults = [
    ...missing.map((field) => ({ path: `input.${field}`, message: 'is missing' })),
    ...unknown.map((field) => ({ path: `input.${field.slice(0, 100)}`, message: 'is not in the plan' })),
  ].slice(0, 10);
  const text = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw new AppError('INVALID_INPUT', `the input of step "${stepId}" has the fields ${wanted.join(', ')}: ${text}`, {
    details: { issues: faults },
  });
}
