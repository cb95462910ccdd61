import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { findDescendants, isRunning } from './process-tree.ts';

const usesOwnServer = process.env['DATABASE_URL'] === undefined;
let dir: string;
let server: PostgresServer;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'postgres-launcher-'));
  // fsync on: the crash below has to be survived as it would be in earnest.
  server = await startPostgres({ dir });
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, query_timeout: 30_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('has the extensions, and a database made from a template has what the template has', async () => {
  const template = await server.createDatabase('launcher_template');
  await query(
    template,
    'CREATE EXTENSION IF NOT EXISTS timescaledb; CREATE EXTENSION vector; CREATE EXTENSION btree_gist',
  );
  await query(template, 'CREATE TABLE mark (value int); INSERT INTO mark VALUES (7)');
  const copy = await server.createDatabase('launcher_copy', { template: 'launcher_template' });
  expect(await query(copy, 'SELECT value FROM mark')).toEqual([{ value: 7 }]);
  await server.dropDatabase('launcher_copy');
  await server.dropDatabase('launcher_template');
  await expect(query(copy, 'SELECT 1')).rejects.toThrow(/does not exist/);
});

test('enforces the user in the URL', async () => {
  await query(server.adminUrl, "CREATE ROLE launcher_reader LOGIN PASSWORD 'right'");
  const login = { database: 'postgres', user: 'launcher_reader' };
  expect(await query(server.url({ ...login, password: 'right' }), 'SELECT current_user AS name')).toEqual([
    { name: 'launcher_reader' },
  ]);
  await expect(query(server.url({ ...login, password: 'right' }), 'CREATE ROLE x')).rejects.toThrow(
    /permission denied/,
  );
  if (usesOwnServer)
    await expect(query(server.url({ ...login, password: 'wrong' }), 'SELECT 1')).rejects.toThrow(
      /authentication failed/,
    );
  await query(server.adminUrl, 'DROP ROLE launcher_reader');
});

test.runIf(usesOwnServer)('what was committed survives SIGKILL to all its processes', async () => {
  await query(server.adminUrl, 'CREATE TABLE survivor (value int); INSERT INTO survivor VALUES (1)');
  const processes = [server.pid, ...findDescendants(server.pid)];
  expect(processes.length).toBeGreaterThan(3);
  await server.kill();
  expect(processes.filter(isRunning)).toEqual([]);
  await server.restart();
  expect(await query(server.adminUrl, 'SELECT value FROM survivor')).toEqual([{ value: 1 }]);
});

test.runIf(usesOwnServer)('suspend freezes sessions that are open too', async () => {
  const client = new pg.Client(server.adminUrl);
  await client.connect();
  await server.suspend();
  const answer = client.query('SELECT 1 AS one');
  expect(await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 300, 'frozen'))])).toBe('frozen');
  await server.resume();
  expect((await answer).rows).toEqual([{ one: 1 }]);
  await client.end();
});

test.runIf(usesOwnServer)('a root filesystem that is gone is reported with the remedy', async () => {
  const choice = { kind: 'rootfs', root: join(dir, 'gone'), bin: '/usr/bin', version: '17', why: 'test' } as const;
  await expect(startPostgres({ dir, choice })).rejects.toMatchObject({
    code: 'TOOLCHAIN_MISSING',
    message: expect.stringContaining('npm run setup'),
  });
});
