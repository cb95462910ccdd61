import type { KnowledgeSettle } from '@cleanslate/contracts';
import { findFactRefs } from '../knowledge/find-fact-refs.ts';
import type { Aggregate } from './state.ts';

/** A pin this close to the submit is the present: the clocks that set the two may differ. */
const PRESENT_MS = 60_000;
/** Steps whose reads are told. */
const MAX_READERS = 100;

/**
 * Which fact versions came into a task, and on which its answer rests. What a step puts out it has read or been given:
 * the first step that names a version brought it in. The result's own references are its grounds, whoever wrote them.
 */
export function findKnowledgeUse({ task, steps }: Aggregate): Pick<KnowledgeSettle, 'reads' | 'answer'> {
  const known = new Set<string>();
  const reads = steps.flatMap(({ stepId, attempt, endedAt, output, phase, copiedFrom }) => {
    if (phase !== 'done' || output === null || endedAt === null) return [];
    const facts = findFactRefs(output).filter((ref) => !known.has(ref));
    for (const ref of facts) known.add(ref);
    // A fork didn't read what its origin read.
    if (facts.length === 0 || copiedFrom !== null) return [];
    return [{ stepId, attempt, at: iso(endedAt), facts }];
  });
  return { reads: reads.slice(0, MAX_READERS), answer: toAnswer(task) };
}

function toAnswer({ state, result, pin, createdAt, updatedAt }: Aggregate['task']): KnowledgeSettle['answer'] {
  const facts = state === 'completed' ? findFactRefs(result) : [];
  if (facts.length === 0) return null;
  const present = Math.abs(Date.parse(pin.validAt) - createdAt) <= PRESENT_MS;
  return { at: iso(updatedAt), holdsAt: present ? null : pin.validAt, facts };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
