import { AppError } from '@cleanslate/contracts';
import type { EmbeddingProvider } from '@cleanslate/llm';
import { type Database, hasTenant, type Tx, withTransaction } from '@cleanslate/store';

/** The gateway's only way to the database: read-only, one tenant at a time. */
export type Ledger = {
  /** The embedding space for queries at this moment; null searches by words alone. */
  readonly findEmbeddings: (() => Promise<EmbeddingProvider>) | null;
  /** Called for each search before it is answered. */
  readonly onSearch: (tenantId: string, query: string) => void;
  /**
   * Runs `work` in a read-only transaction that sees only this tenant's rows. Throws `UNKNOWN_TENANT`,
   * `DATABASE_UNAVAILABLE`.
   */
  read<T>(tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
};

/** A deleted tenant may still be answered for this long. */
const SEEN_MS = 5_000;

export function openLedger(
  database: Database,
  findEmbeddings: Ledger['findEmbeddings'] = null,
  onSearch: Ledger['onSearch'] = () => undefined,
): Ledger {
  // Tenants rarely come and go: one that was seen is not looked up again for a moment.
  const seen = new Map<string, number>();
  return {
    findEmbeddings,
    onSearch,
    read: (tenantId, work) =>
      withTransaction(database, { role: 'cleanslate_gateway', tenantId, readOnly: true }, async (tx) => {
        if (performance.now() - (seen.get(tenantId) ?? Number.NEGATIVE_INFINITY) > SEEN_MS) {
          seen.delete(tenantId);
          if (!(await hasTenant(tx, tenantId)))
            throw new AppError('UNKNOWN_TENANT', `tenant "${tenantId}" is not registered here`);
          seen.set(tenantId, performance.now());
        }
        return await work(tx);
      }),
  };
}
