import { decideClaim } from './decide-claim.ts';
import { decideCancel, decideDeadline, decideRetry } from './decide-control.ts';
import { decideGate, decideGateDue } from './decide-gate.ts';
import { decideReconcile } from './decide-reconcile.ts';
import { decideReport } from './decide-report.ts';
import {
  decideAttemptTimeout,
  decideBackoff,
  decideDispatch,
  decideLease,
  decideQueue,
  decideRing,
  decideUnsendable,
} from './decide-timer.ts';
import { type Change, Decision } from './decision.ts';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, MACHINE_DEFAULTS, type MachineOptions } from './state.ts';

/** The changes an input makes, in order, and the state after all of them. */
export type Decided = { readonly changes: readonly Change[]; readonly state: Aggregate };

/**
 * The task machine: pure, total, deterministic. Any input in any state gives events (none if it changes nothing,
 * `refused` if it was not entitled); `evolve` applies them. Each comes with the states around it, so that callers need
 * not evolve twice.
 */
export function decide(
  state: Aggregate,
  input: LedgerInput,
  now: number,
  options: MachineOptions = MACHINE_DEFAULTS,
): Decided {
  const decision = new Decision(state, now, options);
  apply(decision, input);
  return { changes: decision.changes, state: decision.state };
}

function apply(decision: Decision, input: LedgerInput): void {
  switch (input.kind) {
    case 'dispatch':
      return decideDispatch(decision, input);
    case 'claim':
      return decideClaim(decision, input);
    case 'report':
      return decideReport(decision, input);
    case 'lease_due':
      return decideLease(decision, input);
    case 'attempt_timeout_due':
      return decideAttemptTimeout(decision, input);
    case 'backoff_due':
      return decideBackoff(decision, input);
    case 'queue_due':
      return decideQueue(decision, input);
    case 'ring_due':
      return decideRing(decision, input);
    case 'unsendable':
      return decideUnsendable(decision, input);
    case 'deadline_due':
      return decideDeadline(decision);
    case 'cancel':
      return decideCancel(decision, input);
    case 'retry':
      return decideRetry(decision, input);
    case 'gate':
      return decideGate(decision, input);
    case 'gate_due':
      return decideGateDue(decision);
    case 'reconcile':
      return decideReconcile(decision);
  }
}
