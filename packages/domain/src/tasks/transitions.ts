import type { TaskState } from '@cleanslate/contracts';

/**
 * The five-state machine (design: task machine). The database holds the same table behind a trigger
 * (`packages/store/migrations/0002_ledger.sql`); a test compares the two.
 */
export const TRANSITIONS: Readonly<Record<'task' | 'step', Readonly<Record<TaskState, readonly TaskState[]>>>> = {
  task: {
    pending: ['executing', 'failed'],
    executing: ['awaiting_validation', 'completed', 'failed'],
    awaiting_validation: ['completed', 'executing', 'failed'],
    completed: [],
    failed: ['pending'],
  },
  step: {
    pending: ['executing', 'failed'],
    executing: ['awaiting_validation', 'completed', 'pending', 'failed'],
    awaiting_validation: ['completed', 'failed'],
    completed: [],
    failed: ['pending'],
  },
};

export function isTransitionAllowed(kind: 'task' | 'step', from: TaskState, to: TaskState): boolean {
  return TRANSITIONS[kind][from].includes(to);
}

export function isTerminal(state: TaskState): boolean {
  return state === 'completed' || state === 'failed';
}
