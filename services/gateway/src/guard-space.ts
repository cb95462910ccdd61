import { checkSpace, type Database, findSpaces, withTransaction } from '@cleanslate/store';

/** Throws `EMBEDDING_MISMATCH` where the knowledge base is kept in another embedding space than this gateway is configured for: it must not start. */
export async function guardSpace(database: Database, space: string): Promise<void> {
  const spaces = await withTransaction(database, { role: 'cleanslate_gateway', readOnly: true }, findSpaces);
  checkSpace(spaces, space);
}
