import { AccessLevel } from '@cleanslate/contracts';
import type { FactSearch } from '@cleanslate/store';

/** A question in the embedding space of the knowledge base; null where there is none yet. */
export type EmbedQuery = (question: string, signal: AbortSignal) => Promise<FactSearch['vector']>;

/** A reader of one level reads those below it as well. */
export function levelsUpTo(level: AccessLevel): readonly AccessLevel[] {
  return AccessLevel.options.slice(0, AccessLevel.options.indexOf(level) + 1);
}
