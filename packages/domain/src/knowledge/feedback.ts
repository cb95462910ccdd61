/** One thing that a person said of a fact version, through an answer that rests on it; in the order of saying. */
export type Vote = { readonly person: string; readonly verdict: 'wrong' | 'right' };

/** One person's "wrong" takes a fifth of the weight, one person's "right" gives as much back. */
const STEP = 0.8;
/**
 * However many people say so: a fact that everybody calls wrong must be retracted by somebody, not forgotten by weight.
 */
const LEAST = 0.25;
const MOST = 1.25;

/** People, each counted once with what they said last. */
export function countVotes(votes: readonly Vote[]): { readonly wrong: number; readonly right: number } {
  const last = new Map(votes.map(({ person, verdict }) => [person, verdict]));
  const wrong = [...last.values()].filter((verdict) => verdict === 'wrong').length;
  return { wrong, right: last.size - wrong };
}

/**
 * The weight of a version after feedback: between a quarter of its source's weight and a little more than that, never
 * above 1.
 */
export function weightAfter(base: number, votes: readonly Vote[]): number {
  const { wrong, right } = countVotes(votes);
  const weight = base * STEP ** (wrong - right);
  return Math.round(Math.min(1, base * MOST, Math.max(base * LEAST, weight)) * 1e6) / 1e6;
}
