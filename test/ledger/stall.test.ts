import { type Database, openDatabase, type Tx, withTransaction } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

// Schedulers share rows that every batch locks: one that freezes in the middle of a transaction must not hold up the others for long.

const STALL_MS = 500;
let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase(inject('postgresAdminUrl'));
  const url = server.urlOf('cleanslate_scheduler');
  database = openDatabase({ url, applicationName: 'test', stallMs: STALL_MS });
});
afterAll(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});

const commit = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(database, { role: 'cleanslate_scheduler' }, work);
const lock = (tx: Tx) => tx.query('UPDATE ledger.meta SET position = position');

test('a transaction left idle is ended by the server: whoever waits for its locks goes on, and it hears of an outage', async () => {
  let thaw = () => {};
  const frozen = commit(async (tx) => {
    await lock(tx);
    await new Promise<void>((resolve) => {
      thaw = resolve;
    });
    await lock(tx);
  });
  const outcome = frozen.then(
    () => 'committed',
    (error: unknown) => error,
  );
  await waitFor('the lock', async () => (await idle()) === 1);
  await until(() => commit(lock));
  expect(await idle()).toBe(0);
  thaw();
  expect(await outcome).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
});

test('a lock that is not had in time is an outage too, to be tried again', async () => {
  const url = server.urlOf('cleanslate_scheduler');
  await using patient = openDatabase({ url, applicationName: 'patient' });
  await withTransaction(patient, { role: 'cleanslate_scheduler' }, async (tx) => {
    await lock(tx);
    await expect(commit(lock)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
  await commit(lock);
});

async function idle(): Promise<number> {
  const rows = await server.sql(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'test' AND state LIKE 'idle in transaction%'`,
  );
  return rows.length;
}

/** A wait for the lock may give up just before the one who holds it is ended. */
async function until(work: () => Promise<unknown>): Promise<void> {
  await waitFor('the lock to be free', () =>
    work().then(
      () => true,
      () => false,
    ),
  );
}
