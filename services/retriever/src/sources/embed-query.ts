import type { SpaceFollower } from '@cleanslate/llm';
import type { Logger } from '@cleanslate/runtime';
import { KNOWLEDGE_SOURCE } from '@cleanslate/sources';
import { type Database, findSpaces, type StoredSpace, withTransaction } from '@cleanslate/store';
import type { EmbedQuery } from '../handlers/search.ts';

const TIMEOUT_MS = 5_000;

/**
 * Embeds questions in the space that facts are kept in now; null if that can't be followed and nothing is kept in the
 * configured space, so that only words are searched, which is logged once. Throws `EMBEDDINGS_UNAVAILABLE`: a pinned
 * question must find the same each time.
 */
export function embedQuery(database: Database, follow: SpaceFollower, logger?: Pick<Logger, 'warn'>): EmbedQuery {
  let told = false;
  return async (question, signal) => {
    const spaces = await readSpaces(database);
    const embeddings = await follow(spaces);
    const { space, rankWeight } = embeddings;
    if (!spaces.some((stored) => stored.space === space.id)) {
      const kept = findOtherSpace(spaces, space.id);
      if (kept !== null && !told)
        logger?.warn(
          { source: KNOWLEDGE_SOURCE, kept, configured: space.id },
          'searched by words alone: facts are kept in another embedding space',
        );
      told ||= kept !== null;
      return null;
    }
    const [values] = await embeddings.embed([question], AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    return values ? { space: space.id, values, rankWeight } : null;
  };
}

export async function readSpaces(database: Database): Promise<readonly StoredSpace[]> {
  return await withTransaction(database, { role: 'cleanslate_retriever', readOnly: true }, findSpaces);
}

/** The space that facts are kept in, if questions are embedded in another one and no facts are kept in that. */
export function findOtherSpace(spaces: readonly StoredSpace[], asked: string): string | null {
  if (spaces.some(({ space }) => space === asked)) return null;
  return spaces.find(({ state }) => state === 'active')?.space ?? null;
}
