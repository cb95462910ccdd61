import { randomBytes } from 'node:crypto';
import { migrate, openDatabase } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
});
afterAll(() => database[Symbol.asyncDispose]());

const open = (url: string) => openDatabase({ url, applicationName: 'migrate-test', poolSize: 1 });

test('C23: five that migrate an empty database at once apply each migration once, and all of them succeed', async () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = new URL(inject('postgresAdminUrl'));
  url.pathname = `/${name}`;
  await database.sql(`CREATE DATABASE ${name}`);
  try {
    const reports = await Promise.all(Array.from({ length: 5 }, () => migrate({ adminUrl: url.href })));
    await using migrated = open(url.href);
    const { rows } = await migrated.pool.query<{ name: string }>('SELECT name FROM cleanslate.schema_migrations');
    expect(rows.length).toBeGreaterThan(10);
    expect(reports.flatMap((report) => report.applied).sort()).toEqual(rows.map((row) => row.name).sort());
  } finally {
    await database.sql(`DROP DATABASE ${name} WITH (FORCE)`);
  }
});

test('a migration that does not get its lock lets others pass and tries again', async () => {
  await database.sql('DELETE FROM cleanslate.schema_migrations WHERE version = 26');
  await database.sql('DROP TABLE ledger.published');
  const waits = async () => {
    const waiting = `application_name = 'cleanslate-migrate' AND wait_event_type = 'Lock' AND datname = current_database()`;
    return (await database.sql(`SELECT FROM pg_stat_activity WHERE ${waiting}`)).length > 0;
  };
  await using service = open(database.adminUrl);
  await service.pool.query('BEGIN');
  await service.pool.query('LOCK TABLE ledger.events IN SHARE UPDATE EXCLUSIVE MODE');
  const migrated = migrate({ adminUrl: database.adminUrl });
  await waitFor('it waits for the table', waits, { everyMs: 10 });
  await waitFor('it lets go, though the lock is still held', async () => !(await waits()), { everyMs: 10 });
  await waitFor('it tries again', waits, { everyMs: 10 });
  await service.pool.query('COMMIT');
  expect(await migrated).toMatchObject({ applied: ['0026_published.sql'] });
  expect(await migrate({ adminUrl: database.adminUrl })).toMatchObject({ applied: [] });
});
