import { toSearchTerms } from '@cleanslate/domain';

/** What is ranked: a text, and its terms once they have been cut. */
export type Ranked<T> = { readonly item: T; readonly score: number };
/** The terms a text can be found by, counted once. */
export type Terms = { readonly counts: ReadonlyMap<string, number>; readonly length: number };

export function countTerms(text: string): Terms {
  const counts = toSearchTerms(text);
  let length = 0;
  for (const count of counts.values()) length += count;
  return { counts, length };
}

/**
 * BM25's usual constants, except for the weight of length: passages are all short, and one that is little more than its
 * heading must not win because of that.
 */
const K1 = 1.2;
const B = 0.4;

/**
 * Passages that share words with the query, best first. The score is the share of the query's weight that a passage
 * covers: about 1 if it has every word once. Rare words weigh more (counted over the passages at hand). Chinese is
 * compared by characters and pairs, English by stems.
 */
export function rankPassages<T>(
  passages: readonly T[],
  termsOf: (passage: T) => Terms,
  query: string,
  limit: number,
): Ranked<T>[] {
  const wanted = [...toSearchTerms(query).keys()];
  if (wanted.length === 0 || passages.length === 0) return [];
  const cut = passages.map((item) => ({ item, terms: termsOf(item) }));
  const mean = cut.reduce((sum, { terms }) => sum + terms.length, 0) / cut.length || 1;
  const weights = new Map(wanted.map((term) => [term, weightOf(term, cut)]));
  const whole = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const ranked = cut.map(({ item, terms }, index) => {
    let sum = 0;
    for (const [term, weight] of weights) {
      const times = terms.counts.get(term) ?? 0;
      const damped = times + K1 * (1 - B + (B * terms.length) / mean);
      if (times > 0) sum += (weight * times * (K1 + 1)) / damped;
    }
    return { item, score: sum / whole, place: index };
  });
  return ranked
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .slice(0, limit)
    .map(({ item, score }) => ({ item, score: Math.min(1, score) }));
}

function weightOf(term: string, cut: readonly { readonly terms: Terms }[]): number {
  const holding = cut.filter(({ terms }) => terms.counts.has(term)).length;
  // A word that no passage has weighs as much as a rare one: a passage can't cover the question by leaving it out.
  return Math.log(1 + (cut.length - holding + 0.5) / (holding + 0.5));
}
