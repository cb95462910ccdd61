import { AppError } from '@cleanslate/contracts';

/** Vectors are comparable inside one space only: the same model, dimension and treatment of text before it. */
export type EmbeddingSpace = {
  /** Names everything else about the space; stored beside every vector. */
  readonly id: string;
  readonly model: string;
  readonly dimension: number;
  /** Version of how a text is treated before it is embedded. */
  readonly normaliser: string;
};

/** Turns texts into vectors of one space. */
export type EmbeddingProvider = {
  readonly space: EmbeddingSpace;
  /** How much its ranking counts compared with the text leg's (1). The built-in one knows spellings, not meanings. */
  readonly rankWeight: number;
  /** Most texts of one call. */
  readonly batch: number;
  /**
   * One vector for each text, or null if the text gives none or the answer's vector is unusable (wrong length, not
   * finite, zero): the text is then stored without one. Throws `LLM_UNAVAILABLE` and the like.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<(Float32Array | null)[]>;
};

export function defineSpace(space: Omit<EmbeddingSpace, 'id'>): EmbeddingSpace {
  const { model, dimension, normaliser } = space;
  if (!Number.isSafeInteger(dimension) || dimension < 1 || dimension > 16_000)
    throw new AppError('CONFIGURATION', `embedding dimension ${dimension} must be a whole number from 1 to 16000`);
  return { ...space, id: `${model}/${dimension}/${normaliser}` };
}

/**
 * The vector at unit length; null for one that must never be compared: another length, a value that is not a number,
 * zero.
 */
export function toUnitVector(values: ArrayLike<unknown>, dimension: number): Float32Array | null {
  if (values.length !== dimension) return null;
  const vector = new Float32Array(dimension);
  let squares = 0;
  for (let at = 0; at < dimension; at++) {
    const value = values[at];
    if (typeof value !== 'number' || !Number.isFinite(value)) return null;
    squares += value * value;
    vector[at] = value;
  }
  const norm = Math.sqrt(squares);
  if (!(norm > 1e-12) || !Number.isFinite(norm)) return null;
  for (let at = 0; at < dimension; at++) vector[at] = (vector[at] ?? 0) / norm;
  return vector;
}
