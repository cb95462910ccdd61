import { createHash } from 'node:crypto';
import { canonicalJson } from '@cleanslate/contracts';
import type { Decision } from './decision.ts';
import { isHeld } from './join.ts';
import { outputOf, resolveMapping } from './mapping.ts';
import { type Aggregate, findLatest, isGateOpen, type Step } from './state.ts';
import { hasPassed } from './verdict.ts';

/** SHA-256 of a result as canonical JSON: what a person's decision is bound to. */
export function hashResult(result: unknown): string {
  return createHash('sha256').update(canonicalJson(result)).digest('hex');
}

/** Opens the gate once there is something to decide about; no effect while it is open or passed. */
export function openGate(decision: Decision): void {
  const { state, now } = decision;
  const step = findUndecided(state);
  if (step === undefined || state.plan.gate === undefined || isGateOpen(state.task)) return;
  const { after, expiresMs, onExpiry } = state.plan.gate;
  const result = after === 'validation' ? resolveMapping(state, state.plan.result, null) : outputOf(state, step);
  if (state.task.state === 'pending') decision.emit({ kind: 'task_started' });
  decision.emit({
    kind: 'gate_opened',
    gate: {
      stepId: step.stepId,
      sha256: hashResult(result),
      result,
      openedAt: now,
      expiresAt: now + expiresMs,
      onExpiry,
      decision: null,
      by: null,
      decidedAt: null,
      edited: null,
    },
  });
}

/** The step whose result waits for a person. */
function findUndecided(state: Aggregate): Step | undefined {
  const { gate, validation } = state.plan;
  if (gate === undefined) return undefined;
  if (gate.after !== 'validation') {
    const step = findLatest(state, gate.after);
    return step?.phase === 'done' && isHeld(state, step) ? step : undefined;
  }
  if (validation === null || !hasPassed(state)) return undefined;
  const judge = findLatest(state, validation.step);
  const { stepId, decision } = state.task.gate ?? {};
  return stepId === judge?.stepId && (decision === 'approved' || decision === 'edited') ? undefined : judge;
}
