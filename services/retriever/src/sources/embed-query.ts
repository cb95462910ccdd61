import type { EmbeddingProvider } from '@cleanslate/llm';
import { type Database, findSpaces, withTransaction } from '@cleanslate/store';
import type { EmbedQuery } from '../handlers/search.ts';

const TIMEOUT_MS = 5_000;

/**
 * Questions in the space that facts are kept in; null where nothing is kept in it (yet), so that words alone are searched. Throws `EMBEDDINGS_UNAVAILABLE`: a pinned question
 * must find the same each time.
 */
export function embedQuery(database: Database, embeddings: EmbeddingProvider): EmbedQuery {
  const { space, rankWeight } = embeddings;
  return async (question, signal) => {
    const spaces = await withTransaction(database, { role: 'cleanslate_retriever', readOnly: true }, findSpaces);
    if (!spaces.some((stored) => stored.space === space.id)) return null;
    const [values] = await embeddings.embed([question], AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    return values ? { space: space.id, values, rankWeight } : null;
  };
}
