import type { Fence } from '@cleanslate/contracts';
import { findStep } from '@cleanslate/domain';
import type { SessionStore } from '@cleanslate/runtime/testing';
import type { MemoryLedger } from './memory-ledger.ts';

/**
 * As the ledger keeps sessions: rounds of one of the plan's steps speak under one id. What was grown or added for
 * evidence stands beside it, and speaks for itself.
 */
export function bySpeaker(sessions: SessionStore, ledger: Pick<MemoryLedger, 'state'>): SessionStore {
  const speaker = (fence: Fence): Fence => {
    const step = ledger.state && findStep(ledger.state, fence.stepId);
    return step?.purpose === 'work' ? { ...fence, stepId: step.planKey } : fence;
  };
  return {
    read: (request, signal) => sessions.read({ ...request, fence: speaker(request.fence) }, signal),
    write: (request, signal) => sessions.write({ ...request, fence: speaker(request.fence) }, signal),
  };
}
