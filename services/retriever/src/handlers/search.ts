import { AccessLevel } from '@cleanslate/contracts';
import {
  awaitVectors,
  countPendingVectors,
  type Database,
  type FactSearch,
  type Tx,
  withTransaction,
} from '@cleanslate/store';

/** A question in the embedding space of the knowledge base; null if there is none yet. */
export type EmbedQuery = (question: string, signal: AbortSignal) => Promise<FactSearch['vector']>;

/**
 * How many facts of a pin's revision the vector of a question can't find, after a short wait for those just written: a
 * re-run would find them.
 */
export async function awaitPin(
  database: Database,
  tenantId: string,
  vector: FactSearch['vector'],
  revision: number,
  signal: AbortSignal,
): Promise<number> {
  if (vector === null) return 0;
  const scope = { role: 'cleanslate_retriever', tenantId, readOnly: true } as const;
  const look = (tx: Tx) => countPendingVectors(tx, vector.space, revision);
  return await awaitVectors(() => withTransaction(database, scope, look), signal);
}

/** A reader of one level reads those below it as well. */
export function levelsUpTo(level: AccessLevel): readonly AccessLevel[] {
  return AccessLevel.options.slice(0, AccessLevel.options.indexOf(level) + 1);
}
