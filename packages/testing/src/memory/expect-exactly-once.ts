import { isTerminal } from '@cleanslate/domain';
import type { MemoryRun } from './run-in-memory.ts';

/**
 * Throws, with the whole story, unless the task came to its end and each of its steps took effect as often as it
 * should: once where it completed, else never.
 */
export function expectExactlyOnce(run: MemoryRun): void {
  const faults = [...faultsOfEnd(run), ...run.steps.flatMap((step) => faultsOfStep(run, step))];
  if (faults.length > 0)
    throw new Error(`${faults.join('; ')}\nfaults that came to pass: ${run.faults.join(', ') || 'none'}\n${run.story}`);
}

function faultsOfEnd({ state, events, left }: MemoryRun): readonly string[] {
  const ends = events.filter(({ type, data }) => type.startsWith('task.transitioned') && isTerminal(to(data)));
  return [
    ...(isTerminal(state) ? [] : [`the task is still ${state}`]),
    ...(ends.length === 1 ? [] : [`its end was told ${ends.length} times`]),
    ...(events.every(({ sequence }, i) => sequence === String(i + 1)) ? [] : ['the numbers of its events have a gap']),
    ...(left === 0 ? [] : [`${left} messages are left over`]),
  ];
}

function faultsOfStep({ deadLetters }: MemoryRun, step: MemoryRun['steps'][number]): readonly string[] {
  const { stepId, state, effects, runs, output } = step;
  const letters = deadLetters.filter((letter) => letter.stepId === stepId).length;
  return [
    ...(isTerminal(state) ? [] : [`step ${stepId} is still ${state}`]),
    ...(effects === Number(state === 'completed')
      ? []
      : [`step ${stepId} is ${state} and took effect ${effects} times`]),
    ...(state === 'completed' && (runs === 0 || output === null)
      ? [`step ${stepId} completed without having run`]
      : []),
    ...(letters <= 1 ? [] : [`step ${stepId} was given up on ${letters} times`]),
  ];
}

function to(data: unknown) {
  return (data as { readonly to: MemoryRun['state'] }).to;
}
