import type { FactView, Pin } from '@cleanslate/contracts';
import { freshnessOf, fuseLegs, type Leg, pickDiverse, toSearchTerms } from '@cleanslate/domain';
import type { Tx } from '../database.ts';
import { toVectorText } from './embeddings.ts';
import { countVersionsAt, loadFound, type SearchFilter, searchText, searchVectors } from './search-facts.ts';

export type FactSearch = {
  readonly query: string;
  readonly pin: Pin;
  /** The pin was asked for, not just "now": the same rows must come back later, so no approximate index is used. */
  readonly pinned: boolean;
  /** The query in a space whose vectors are kept; null searches by words alone. */
  readonly vector: { readonly space: string; readonly values: Float32Array; readonly rankWeight: number } | null;
  readonly filter: SearchFilter;
  readonly limit: number;
};
export type FactHit = { readonly fact: FactView; readonly score: number };

/** Most hits of one leg that are fused. */
const LEG_SIZE = 50;
/** With fewer rows reading all vectors is as fast as an index, and never misses. */
const EXACT_BELOW = 20_000;
/** Most terms searched of a query that is a long text. */
const MAX_QUERY_TERMS = 80;

/** Both legs, fused; then weight and freshness; then diversity. Ties go to the version written last. */
export async function searchFacts(tx: Tx, tenantId: string, search: FactSearch): Promise<FactHit[]> {
  const { pin, filter, vector, limit } = search;
  const terms = toQueryTerms(search.query);
  const legs: Leg[] = [{ ids: await searchText(tx, terms, pin, filter, LEG_SIZE), weight: 1 }];
  if (vector !== null) {
    const exact = search.pinned || (await countVersionsAt(tx, tenantId, pin.revision)) < EXACT_BELOW;
    const asked = { space: vector.space, vector: toVectorText(vector.values), exact };
    legs.push({ ids: await searchVectors(tx, asked, pin, filter, LEG_SIZE), weight: vector.rankWeight });
  }
  const fused = fuseLegs(legs.filter(({ ids }) => ids.length > 0));
  const found = await loadFound(tx, tenantId, pin, [...fused.keys()]);
  const validAt = Date.parse(pin.validAt);
  const ranked = found
    .map((hit) => {
      const { fact, id, sourceTime } = hit;
      const score = (fused.get(id) ?? 0) * fact.weight * freshnessOf(fact.layer, sourceTime, validAt);
      return { hit, score };
    })
    .sort((a, b) => b.score - a.score || b.hit.id - a.hit.id);
  const cache = new Map<number, ReadonlySet<string>>();
  const termsOf = ({ id, fact }: (typeof found)[number]) => {
    const known = cache.get(id) ?? new Set(toSearchTerms(fact.statement).keys());
    cache.set(id, known);
    return known;
  };
  return pickDiverse(ranked, termsOf, limit).map(({ hit, score }) => ({ fact: hit.fact, score }));
}

/** Of a long query: pairs and words before single characters, spread over the whole text. */
function toQueryTerms(query: string): string[] {
  const all = [...toSearchTerms(query).keys()];
  if (all.length <= MAX_QUERY_TERMS) return all;
  const telling = all.filter((term) => term.length > 1);
  const step = Math.max(1, telling.length / MAX_QUERY_TERMS);
  return Array.from(
    { length: Math.min(MAX_QUERY_TERMS, telling.length) },
    (_, at) => telling[Math.floor(at * step)] ?? '',
  );
}
