import type { Priority } from '@cleanslate/contracts';

/** `ledger.tasks.priority` counts up from low. */
const PRIORITIES: readonly Priority[] = ['low', 'normal', 'high'];

export function toPriority(number: number): Priority {
  return PRIORITIES[number] ?? 'normal';
}

export function toPriorityNumber(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}
