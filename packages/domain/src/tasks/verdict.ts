import { Verdict } from '@cleanslate/contracts';
import { type Aggregate, findLatest } from './state.ts';

/** The latest verdict lets the result pass. */
export function hasPassed(state: Pick<Aggregate, 'plan' | 'steps'>): boolean {
  const { validation } = state.plan;
  if (validation === null) return false;
  const judge = findLatest(state, validation.step);
  const verdict = judge?.phase === 'done' ? Verdict.safeParse(judge.output) : undefined;
  return verdict?.success === true && verdict.data.decision === 'pass';
}
