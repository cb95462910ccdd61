import type { ErrorBody, GateView } from '@cleanslate/contracts';
import type { GateState, Task } from '@cleanslate/domain';
import { toErrorBody } from './rows.ts';

/** What a task's readers see of its gate; absent where the task never came to one. */
export function toGateView(gate: GateState | null): { readonly gate?: GateView } {
  if (gate === null) return {};
  const { stepId, sha256, onExpiry, decision, by, result } = gate;
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    gate: {
      stepId,
      sha256,
      onExpiry,
      decision,
      by,
      result,
      openedAt: at(gate.openedAt),
      expiresAt: at(gate.expiresAt),
      decidedAt: gate.decidedAt === null ? null : at(gate.decidedAt),
    },
  };
}

export function toFailing(failing: Task['failing']): { readonly failing?: ErrorBody } {
  const error = toErrorBody(failing?.error);
  return error === null ? {} : { failing: error };
}
