import { arbitrationScore, type Contender, DECISIVE_LEAD } from '../knowledge/index.ts';

/** What one executor, or one source, says about something, with what it rests on. */
export type ExecutorResult = Omit<Contender, 'sourceRef'> & {
  readonly id: string;
  /** In a comparable form: equal values agree. */
  readonly value: string;
  /** Fact versions or passages; they travel with the result, whatever is decided. */
  readonly evidence: readonly string[];
};

export type RankedResult = {
  readonly id: string;
  readonly value: string;
  readonly score: number;
  readonly vetoed: boolean;
  readonly evidence: readonly string[];
};

export type ResultRuling = {
  /** `disputed` is for the validator, or a person: no result stands alone. `vetoed`: none may be used. */
  readonly ruling: 'agreed' | 'decided' | 'disputed' | 'vetoed';
  readonly winner: string | null;
  /** Lead of the best value over the second best; null if there is one value, or a person spoke. */
  readonly lead: number | null;
  readonly reason: string;
  /** All results, best first: those that lost stay on record. */
  readonly ranking: readonly RankedResult[];
};

/** A validator's score below this says that the result is wrong. */
export const VETO_BELOW = 0.5;

/**
 * Which of several results holds: the rule for facts, applied to executors. Results that the validator scored below a
 * half are out; a person outranks the others; otherwise the scores decide, and a lead below 0.15 decides nothing.
 * Independent of the order of the results.
 */
export function arbitrateResults(results: readonly ExecutorResult[], now: number): ResultRuling {
  const ranking = results.map((result) => toRanked(result, now)).sort(byScore);
  const standing = ranking.filter(({ vetoed }) => !vetoed);
  const ruled = (
    ruling: ResultRuling['ruling'],
    winner: string | null,
    reason: string,
    lead: number | null = null,
  ) => ({
    ruling,
    winner,
    lead,
    reason,
    ranking,
  });
  const [best] = standing;
  if (best === undefined) return ruled('vetoed', null, results.length === 0 ? 'no result' : 'the validator vetoed all');
  const valuesOf = (ranked: readonly RankedResult[]) => new Set(ranked.map(({ value }) => value));
  if (valuesOf(standing).size === 1)
    return ruled('agreed', best.id, `${standing.length} of ${ranking.length} say the same`);
  const people = new Set(results.filter(({ trust }) => trust === 'human_confirmed').map(({ id }) => id));
  const confirmed = standing.filter(({ id }) => people.has(id));
  if (confirmed.length > 0) {
    const said = valuesOf(confirmed).size === 1;
    return said
      ? ruled('decided', confirmed[0]?.id ?? null, 'a person said so')
      : ruled('disputed', null, 'people say different things');
  }
  const second = standing.find(({ value }) => value !== best.value);
  const lead = best.score - (second?.score ?? 0);
  // 0.45 − 0.3 is 0.15000000000000002: what a person would call 0.15 is decisive.
  return lead >= DECISIVE_LEAD - 1e-9
    ? ruled('decided', best.id, `leads by ${lead.toFixed(3)}`, lead)
    : ruled('disputed', null, `lead ${lead.toFixed(3)} is below ${DECISIVE_LEAD}`, lead);
}

function toRanked(result: ExecutorResult, now: number): RankedResult {
  const { id, value, validatorScore, evidence } = result;
  const score = arbitrationScore({ ...result, sourceRef: id }, now);
  return { id, value, score, vetoed: validatorScore !== null && validatorScore < VETO_BELOW, evidence };
}

function byScore(a: RankedResult, b: RankedResult): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}
