import { openDatabase, type Tx, withTransaction } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// Schedulers share rows that every batch locks: one that freezes in the middle of a transaction must not
// hold up the others for long.

const STALL_MS = 500;
let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger({ stallMs: STALL_MS });
});
afterAll(() => ledger[Symbol.asyncDispose]());

const lock = (tx: Tx) => tx.query('UPDATE ledger.meta SET position = position');

test('a transaction left idle is ended by the server: whoever waits for its locks goes on, and it hears of an outage', async () => {
  let thaw = () => {};
  const frozen = ledger.commit(async (tx) => {
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
  await until(() => ledger.commit(lock));
  expect(await idle()).toBe(0);
  thaw();
  expect(await outcome).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
});

test('a lock that is not had in time is an outage too, to be tried again', async () => {
  await using patient = openDatabase({ url: ledger.url, applicationName: 'patient' });
  await withTransaction(patient, { role: 'cleanslate_scheduler' }, async (tx) => {
    await lock(tx);
    await expect(ledger.commit(lock)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
  await ledger.commit(lock);
});

async function idle(): Promise<number> {
  const rows = await ledger.sql(
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
