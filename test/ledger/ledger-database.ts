import { type Database, type DatabaseOptions, openDatabase, type Tx, withTransaction } from '@cleanslate/store';
import { createTestDatabase } from '@cleanslate/testing';
import { inject } from 'vitest';

export type LedgerDatabase = AsyncDisposable & {
  /** The scheduler's connections. */
  readonly database: Database;
  /** Where they go: for connections of other settings. */
  readonly url: string;
  /** Any SQL as the superuser. */
  readonly sql: Awaited<ReturnType<typeof createTestDatabase>>['sql'];
  /** One transaction in the scheduler's role. */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

/** A ledger of its own, as a scheduler opens it. */
export async function openLedger(options: Partial<DatabaseOptions> = {}): Promise<LedgerDatabase> {
  const server = await createTestDatabase(inject('postgresAdminUrl'));
  const url = server.urlOf('cleanslate_scheduler');
  const database = openDatabase({ url, applicationName: 'test', ...options });
  return {
    database,
    url,
    sql: server.sql,
    commit: (work) => withTransaction(database, { role: 'cleanslate_scheduler' }, work),
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
