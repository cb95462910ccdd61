import { routeCandidate } from '@cleanslate/domain';
import type { StoredCandidate, TaskName, TaskSettlement } from '@cleanslate/store';
import type { Released } from './decide-released.ts';

export function taskKey({ tenantId, taskId }: TaskName): string {
  return `${tenantId}/${taskId}`;
}

export type Routed = {
  readonly released: readonly Released[];
  readonly held: readonly StoredCandidate[];
  readonly dropped: readonly StoredCandidate[];
};

/** Sorts open candidates by what their task's settlement says; those of a task without one wait. */
export function routeCandidates(
  stored: readonly StoredCandidate[],
  settlements: ReadonlyMap<string, TaskSettlement>,
): Routed {
  const released: Released[] = [];
  const held: StoredCandidate[] = [];
  const dropped: StoredCandidate[] = [];
  for (const candidate of stored) {
    if (candidate.state === 'settled') continue;
    const settlement = settlements.get(taskKey(candidate));
    const routing = routeCandidate(settlement, candidate);
    if (routing === 'drop') dropped.push(candidate);
    else if (routing === 'hold' && candidate.state === 'waiting') held.push(candidate);
    else if (routing === 'release' && settlement !== undefined) released.push({ candidate, settlement });
  }
  return { released, held, dropped };
}
