import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import type { PostgresServer } from './postgres-server.ts';

const CLIENTS = 40;
let dir: string;
let server: PostgresServer;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'embedded-launcher-'));
  server = await startEmbeddedPostgres({ dir, idleInTransactionMs: 5_000 });
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  const client = await connect();
  await client.query('DROP TABLE IF EXISTS entry; CREATE TABLE entry (id int PRIMARY KEY)');
  await client.end();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(server.adminUrl);
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function countEntries(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM entry');
  return rows[0]?.count ?? -1;
}

/** Cuts the connection as the death of the client's process would. */
function sever(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

test('has the extensions that the store needs', async () => {
  const client = await connect();
  for (const name of ['vector', 'btree_gist', 'pg_trgm', 'pgcrypto'])
    await client.query(`CREATE EXTENSION IF NOT EXISTS ${name}`);
  expect((await client.query("SELECT '[1,2]'::vector <-> '[1,3]' AS distance")).rows).toEqual([{ distance: 1 }]);
  await client.end();
});

test('a client killed inside a transaction gives way, and its work is rolled back', async () => {
  const [victim, other] = [await connect(), await connect()];
  await victim.query('BEGIN');
  await victim.query('INSERT INTO entry VALUES ($1)', [1]);
  const waiting = countEntries(other);
  sever(victim);
  expect(await waiting).toBe(0);
  await other.end();
});

test('so does one killed while its BEGIN is still running', async () => {
  const [victim, other] = [await connect(), await connect()];
  victim.query('BEGIN; SELECT pg_sleep(0.2)').catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  sever(victim);
  await other.query('INSERT INTO entry VALUES (2)');
  expect(await countEntries(other)).toBe(1);
  await other.end();
});

test('a transaction left idle is cut off, so that it can not keep the others waiting for ever', async () => {
  const [idler, other] = [await connect(), await connect()];
  const cutOff = new Promise<Error>((resolve) => idler.once('error', resolve));
  await idler.query('BEGIN; INSERT INTO entry VALUES (3)');
  expect(await countEntries(other)).toBe(0);
  expect((await cutOff).message).toContain('idle for too long');
  await other.end();
});

test(`${CLIENTS} clients work side by side without mixing statements or transactions`, async () => {
  const clients = await Promise.all(Array.from({ length: CLIENTS }, connect));
  await Promise.all(
    clients.map(async (client, index) => {
      // The same name for another statement in each client.
      const prepared = { name: 'same', text: `SELECT $1::int + ${index} AS sum`, values: [1] };
      expect((await client.query(prepared)).rows).toEqual([{ sum: index + 1 }]);
      for (const keep of [true, false]) {
        await client.query('BEGIN');
        await client.query('INSERT INTO entry VALUES ($1)', [index]).catch(() => {});
        await client.query(keep ? 'COMMIT' : 'ROLLBACK');
      }
      expect((await client.query(prepared)).rows).toEqual([{ sum: index + 1 }]);
    }),
  );
  const [first, ...others] = clients;
  await Promise.all(others.map((client) => client.end()));
  expect(first && (await countEntries(first))).toBe(CLIENTS);
  await first?.end();
});

test('an error leaves the connection usable, and COPY is refused instead of hanging', async () => {
  const client = await connect();
  await expect(client.query('SELECT $1::int / 0', [1])).rejects.toMatchObject({ code: '22012' });
  await expect(client.query('COPY entry FROM STDIN')).rejects.toMatchObject({ code: '0A000' });
  expect(await countEntries(client)).toBe(0);
  await client.end();
});

test('what was committed survives SIGKILL, on the same port', async () => {
  const before = await connect();
  await before.query('INSERT INTO entry VALUES (4)');
  await server.kill();
  await server.restart();
  const after = await connect();
  expect(await countEntries(after)).toBe(1);
  await after.end();
});

test('a second process on the same folder is refused', async () => {
  await expect(startEmbeddedPostgres({ dir })).rejects.toMatchObject({
    code: 'START_FAILED',
    message: expect.stringContaining('is in use by process'),
  });
});
