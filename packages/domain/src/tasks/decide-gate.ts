import { MAX_ERROR_MESSAGE, toStorableText } from '@cleanslate/contracts';
import type { Decision } from './decision.ts';
import type { LedgerInput } from './inputs.ts';
import { failTask, settle } from './progress.ts';
import { isActive } from './state.ts';

/** A person's decision: bound to the hash of the exact result, made once; nothing that came before runs again. */
export function decideGate(decision: Decision, input: Extract<LedgerInput, { kind: 'gate' }>): void {
  const { gate } = decision.state.task;
  if (gate === null || gate.decision !== null) {
    const past = gate === null ? 'no gate is open' : `the gate was ${gate.decision} by ${gate.by}`;
    return decision.refuse('ILLEGAL_TRANSITION', `${past}: nothing waits for a decision in this task`);
  }
  if (gate.sha256 !== input.sha256) {
    const message = `the result that waits has the hash ${gate.sha256}: look at it again ("slate task show") and decide on that one`;
    return decision.refuse('GATE_MISMATCH', message);
  }
  // The sweep may simply be late to say so.
  if (gate.expiresAt <= decision.now) return expire(decision);
  if (input.action === 'approve') return pass(decision, 'approved', 'person', null, 'gate_approved');
  if (input.action === 'edit') return pass(decision, 'edited', 'person', input.result, 'gate_edited');
  decision.emit({ kind: 'gate_decided', decision: 'rejected', by: 'person', edited: null });
  const message = toStorableText(`a person rejected the result: ${input.reason}`, MAX_ERROR_MESSAGE);
  failTask(decision, 'gate_rejected', { code: 'GATE_REJECTED', disposition: 'terminal', message });
}

export function decideGateDue(decision: Decision): void {
  const { gate } = decision.state.task;
  if (gate !== null && gate.decision === null && gate.expiresAt <= decision.now) expire(decision);
}

function expire(decision: Decision): void {
  if (decision.state.task.gate?.onExpiry === 'approve')
    return pass(decision, 'approved', 'expiry', null, 'gate_expired');
  decision.emit({ kind: 'gate_decided', decision: 'rejected', by: 'expiry', edited: null });
  const message = `nobody decided on the result within ${decision.state.plan.gate?.expiresMs} ms`;
  failTask(decision, 'gate_expired', { code: 'GATE_EXPIRED', disposition: 'terminal', message });
}

function pass(
  decision: Decision,
  word: 'approved' | 'edited',
  by: 'person' | 'expiry',
  edited: unknown,
  on: string,
): void {
  decision.emit({ kind: 'gate_decided', decision: word, by, edited });
  if (decision.state.steps.some(isActive)) decision.emit({ kind: 'task_resumed', on });
  settle(decision, on);
}
