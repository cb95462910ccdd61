import type { Decision } from './decision.ts';
import { settle } from './progress.ts';
import { isActive, isGateOpen } from './state.ts';
import { isTerminal } from './transitions.ts';

/**
 * For a task that nothing moves, although no decision leaves one so: rows were lost or changed from outside. Derives
 * again what follows from the rows that are there. Has no effect on a task that something will move.
 */
export function decideReconcile(decision: Decision): void {
  const { task, steps } = decision.state;
  if (isTerminal(task.state) || isGateOpen(task)) return;
  if (steps.some((step) => isActive(step) && step.phase !== 'blocked')) return;
  settle(decision, 'reconciled');
}
