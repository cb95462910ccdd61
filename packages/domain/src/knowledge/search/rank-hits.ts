import type { KnowledgeLayer } from '@cleanslate/contracts';
import { HALF_LIFE_MS } from '../trust.ts';

/** A leg's hits, best first, and how much the leg counts. */
export type Leg = { readonly ids: readonly number[]; readonly weight: number };

/**
 * Rank constant of the fusion. The usual 60 makes the first and the fiftieth nearly equal, so that weight and age alone
 * would decide.
 */
const RANK_CONSTANT = 10;

/**
 * Reciprocal-rank fusion: Σ weight / (10 + rank), scaled so that first in every leg is 1. Each id appears at most once
 * per leg.
 */
export function fuseLegs(legs: readonly Leg[]): Map<number, number> {
  const total = legs.reduce((sum, { weight }) => sum + weight, 0);
  const fused = new Map<number, number>();
  for (const { ids, weight } of legs) {
    for (const [index, id] of ids.entries()) {
      const part = (weight / total) * ((RANK_CONSTANT + 1) / (RANK_CONSTANT + index + 1));
      fused.set(id, (fused.get(id) ?? 0) + part);
    }
  }
  return fused;
}

/**
 * The most that age can take from a score. A policy doesn't get less true while it is in force, so a core fact keeps
 * most of its score; a working note fades. (Decision record 0025.)
 */
const LEAST_FRESHNESS: Readonly<Record<KnowledgeLayer, number>> = { core: 0.9, reflection: 0.5, working: 0 };

/** 2^(−age / half-life), above the layer's floor. Times in milliseconds. */
export function freshnessOf(layer: KnowledgeLayer, sourceTime: number, validAt: number): number {
  const age = Math.max(0, validAt - sourceTime);
  const floor = LEAST_FRESHNESS[layer];
  return floor + (1 - floor) * 2 ** (-age / HALF_LIFE_MS[layer]);
}

export type RankedHit<T> = { readonly hit: T; readonly score: number };

/** Above this share of common terms two hits say nearly the same. */
const NEAR_IDENTICAL = 0.8;
const NUMBER = /[\p{Nd}一二三四五六七八九十百千万亿]/u;

/**
 * Best first, `most` at most; a hit that nearly repeats a better one comes after all that say something of their own. A
 * different number counts as something of its own.
 */
export function pickDiverse<T>(
  hits: readonly RankedHit<T>[],
  termsOf: (hit: T) => ReadonlySet<string>,
  most: number,
): RankedHit<T>[] {
  const picked: { item: RankedHit<T>; terms: ReadonlySet<string> }[] = [];
  const repeats: RankedHit<T>[] = [];
  for (const item of hits) {
    if (picked.length === most) break;
    const terms = termsOf(item.hit);
    if (picked.some((other) => likeness(other.terms, terms) > NEAR_IDENTICAL)) repeats.push(item);
    else picked.push({ item, terms });
  }
  return [...picked.map(({ item }) => item), ...repeats].slice(0, most);
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const term of a) {
    if (b.has(term)) common++;
    else if (NUMBER.test(term)) return 0;
  }
  for (const term of b) if (!a.has(term) && NUMBER.test(term)) return 0;
  const all = a.size + b.size - common;
  return all === 0 ? 1 : common / all;
}
