import { defineSpace, type EmbeddingProvider, toUnitVector } from './embedding-space.ts';
import { toFeatures } from './hashed-features.ts';

/**
 * The default: words and character n-grams hashed into a vector. No model, no key, no network, the same on every
 * machine; it finds spellings and inflections, not meanings.
 */
export function hashedEmbeddings(options: { readonly dimension?: number } = {}): EmbeddingProvider {
  const space = defineSpace({ model: 'hashed', dimension: options.dimension ?? 384, normaliser: 'words+grams-1' });
  return {
    space,
    rankWeight: 0.1,
    batch: 500,
    embed: async (texts) =>
      texts.map((text) => toUnitVector(project(toFeatures(text), space.dimension), space.dimension)),
  };
}

/** Each feature adds to two places with two signs, so that one collision is only half a mistake. */
function project(features: ReadonlyMap<string, number>, dimension: number): Float64Array {
  const vector = new Float64Array(dimension);
  for (const [feature, weight] of features) {
    const first = hash(feature, 0x811c9dc5);
    const second = hash(feature, 0x9747b28c);
    for (const value of [first, second]) {
      const at = value % dimension;
      vector[at] = (vector[at] ?? 0) + (value & 0x40000000 ? weight : -weight);
    }
  }
  return vector;
}

/** FNV-1a with a final mix: the lower bits of FNV alone are poor. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
