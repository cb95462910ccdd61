import { type Database, lockPublishing, openDatabase, withTransaction } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase(inject('postgresAdminUrl'));
  database = openDatabase({ url: server.urlOf('cleanslate_scheduler'), applicationName: 'test' });
});
afterAll(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});

const look = () => withTransaction(database, { role: 'cleanslate_scheduler' }, lockPublishing);
const noted = async () => (await server.sql<{ n: number }>('SELECT position::int4 AS n FROM ledger.published'))[0]?.n;

test('while schedulers are replaced, what one of the release before has published is published: nothing of it goes out again', async () => {
  await server.sql('UPDATE ledger.meta SET position = 5, published_position = 3');
  await server.sql('UPDATE ledger.published SET position = 1');
  expect(await look()).toMatchObject({ published: 3, position: 5 });
  // Others read it there: health, retention, redactions.
  expect(await noted()).toBe(3);
  await server.sql('UPDATE ledger.published SET position = 4');
  expect(await look()).toMatchObject({ published: 4, position: 5 });
  expect(await noted()).toBe(4);
});
