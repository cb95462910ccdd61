import { AccessLevel, type KnowledgeLayer, type SourceType } from '@cleanslate/contracts';

/** Base weight by kind of source; also the order of trust. */
const SOURCE_WEIGHT: Readonly<Record<SourceType, number>> = {
  human_confirmed: 1,
  internal_document: 0.9,
  external_source: 0.6,
  model_inference: 0.5,
};

export function weightOf(sourceType: SourceType): number {
  return SOURCE_WEIGHT[sourceType];
}

export type Lineage = { readonly roots: readonly string[]; readonly trust: SourceType };

/** Origin and access level of something that others were derived from. */
export type Parent = Lineage & { readonly accessLevel: AccessLevel };

const MAX_ROOTS = 100;

/** Trust is the minimum over a lineage: restating a web page doesn't make it more than a web page. */
export function combineLineage(own: SourceType, sourceRef: string, parents: readonly Lineage[]): Lineage {
  if (parents.length === 0) return { roots: [sourceRef], trust: own };
  const trust = parents.reduce((least, { trust: other }) => (weightOf(other) < weightOf(least) ? other : least), own);
  const roots = [...new Set(parents.flatMap((parent) => parent.roots))].sort().slice(0, MAX_ROOTS);
  return { roots, trust };
}

/** Who may read something made from several parts: only those who may read each of them. */
export function highestLevel(first: AccessLevel, ...others: readonly AccessLevel[]): AccessLevel {
  return others.reduce(
    (highest, level) => (AccessLevel.options.indexOf(level) > AccessLevel.options.indexOf(highest) ? level : highest),
    first,
  );
}

const HOUR_MS = 3_600_000;

/** After this long a fact counts half in arbitration and ranking. */
export const HALF_LIFE_MS: Readonly<Record<KnowledgeLayer, number>> = {
  working: 4 * HOUR_MS,
  reflection: 72 * HOUR_MS,
  core: 6 * 7 * 24 * HOUR_MS,
};

/** Layer of a candidate that names none. */
export function layerOf(sourceType: SourceType): KnowledgeLayer {
  return sourceType === 'model_inference' ? 'working' : 'core';
}
