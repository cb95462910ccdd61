import { checkSpace, type Database, findSpaces, type StoredSpace, withTransaction } from '@cleanslate/store';

/**
 * Throws `EMBEDDING_MISMATCH` if the knowledge base is kept in another embedding space than this gateway is configured
 * for: it must not start.
 */
export async function guardSpace(database: Database, space: string): Promise<void> {
  checkSpace(await readSpaces(database), space);
}

/** The spaces that vectors are kept in now: `slate fact reembed` may have moved them since this gateway started. */
export async function readSpaces(database: Database): Promise<readonly StoredSpace[]> {
  return await withTransaction(database, { role: 'cleanslate_gateway', readOnly: true }, findSpaces);
}
