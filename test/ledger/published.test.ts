import { lockPublishing } from '@cleanslate/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger[Symbol.asyncDispose]());

const look = () => ledger.commit(lockPublishing);
const noted = async () => (await ledger.sql<{ n: number }>('SELECT position::int4 AS n FROM ledger.published'))[0]?.n;

test('while schedulers are replaced, what one of the release before has published is published: nothing of it goes out again', async () => {
  await ledger.sql('UPDATE ledger.meta SET position = 5, published_position = 3');
  await ledger.sql('UPDATE ledger.published SET position = 1');
  expect(await look()).toMatchObject({ published: 3, position: 5 });
  // Others read it there: health, retention, redactions.
  expect(await noted()).toBe(3);
  await ledger.sql('UPDATE ledger.published SET position = 4');
  expect(await look()).toMatchObject({ published: 4, position: 5 });
  expect(await noted()).toBe(4);
});
