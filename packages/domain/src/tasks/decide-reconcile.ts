import type { Decision } from './decision.ts';
import { settle } from './progress.ts';
import { isActive, isGateOpen } from './state.ts';
import { isTerminal } from './transitions.ts';

/**
 * A task that nothing moves, though no decision leaves one so: rows were lost or changed from outside. What follows from those that are there is drawn once
 * more. Without effect on a task that something will move.
 */
export function decideReconcile(decision: Decision): void {
  const { task, steps } = decision.state;
  if (isTerminal(task.state) || isGateOpen(task)) return;
  if (steps.some((step) => isActive(step) && step.phase !== 'blocked')) return;
  settle(decision, 'reconciled');
}
