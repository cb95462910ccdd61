import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createTestDatabase, type TestDatabase, waitFor } from '@cleanslate/testing';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { exampleOf } from './guide.ts';
import { openTestSources, type TestSources } from './open-test-sources.ts';

let database: TestDatabase;
const stack: AsyncDisposable[] = [];
const keep = <T extends AsyncDisposable>(each: T): T => {
  stack.push(each);
  return each;
};
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
  await database.sql(`
    CREATE SCHEMA erp;
    CREATE TABLE suppliers (code text PRIMARY KEY, name text NOT NULL);
    CREATE TABLE payment_terms (supplier text REFERENCES suppliers, days int, discount numeric, valid_from date, valid_until timestamp, amount numeric, id bigint, since timestamptz);
    INSERT INTO suppliers VALUES ('000001', 'Acme Ltd'), ('600519', 'Apex GmbH');
    INSERT INTO payment_terms VALUES
      ('000001', 30, 2.50, '2024-01-01', '2025-01-01 00:00', 12345678901234567890.12, 9007199254740993, '2024-06-01 08:00:00+08'),
      ('000001', 60, 0.00, '2025-01-01', NULL, 1.10, 1, '2024-06-01 08:00:00+08'),
      ('600519', 14, 3.00, '2024-01-01', NULL, 9, 10, '2024-06-01 08:00:00+08');
    CREATE FUNCTION sneaky() RETURNS int LANGUAGE sql AS 'INSERT INTO suppliers VALUES (''x'', ''x''); SELECT 1';
    CREATE TABLE secrets (a text);
  `);
});
afterEach(async () => {
  for (const each of stack.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
afterAll(() => database[Symbol.asyncDispose]());

const openGuide = async () => keep(await openTestSources(exampleOf('sql'), { ERP_DATABASE_URL: database.adminUrl }));
/**
 * A source with a query of its own over the columns `content` and `id`, and time enough for a busy
 * machine unless told otherwise.
 */
async function open(query: string, more = '', url = database.adminUrl): Promise<TestSources> {
  const deadline = more.includes('timeoutMs') ? '' : '    timeoutMs: 60000\n';
  const yaml = `sources:\n  - name: erp\n    kind: sql\n    title: ERP\n    urlFrom: ERP_URL\n    query: ${JSON.stringify(query)}\n    evidence: { content: "{content}", locator: "row/{id}" }\n${more}${deadline}`;
  return keep(await openTestSources(yaml, { ERP_URL: url }));
}
const PARAM = '    params: [{ name: text, description: any }]\n';
const queriesOf = async (pattern: string) =>
  (
    await database.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1 AND pid <> pg_backend_pid()`,
      [pattern],
    )
  )[0]?.n;

describe('a database', () => {
  it('answers what the guide’s example asks, with what holds at the pin', async () => {
    const opened = await openGuide();
    const ask = (validAt: string) =>
      opened.ask('payment-terms', { supplier: 'acme' }, { pin: { validAt, revision: 1 } });
    expect(await ask('2024-06-01T00:00:00.000Z')).toMatchObject([
      {
        content: 'Acme Ltd (000001) is paid within 30 days, 2.50 % discount.',
        locator: 'suppliers/000001/terms/2024-01-01',
        validUntil: '2025-01-01T00:00:00.000Z',
      },
    ]);
    expect(await ask('2025-06-01T00:00:00.000Z')).toMatchObject([
      { content: 'Acme Ltd (000001) is paid within 60 days, 0.00 % discount.' },
    ]);
    expect(await opened.ask('payment-terms', { supplier: 'nobody' })).toEqual([]);
    expect(await opened.sources.check()).toMatchObject([{ ok: true, says: 'the database plans the query' }]);
  });

  it('C11, C24, C25: numbers, codes and times come as the server prints them, in UTC', async () => {
    const opened = await open(
      `SELECT concat_ws(' ', s.code, t.amount, t.id, t.discount) AS content, t.since AS id FROM suppliers s JOIN payment_terms t ON t.supplier = s.code WHERE t.id = 9007199254740993`,
    );
    expect(await opened.ask('erp', {})).toMatchObject([
      { content: '000001 12345678901234567890.12 9007199254740993 2.50', locator: 'row/2024-06-01 00:00:00+00' },
    ]);
    const single = await open('SELECT amount AS content, id FROM payment_terms ORDER BY id DESC');
    expect((await single.ask('erp', {})).map(({ content, locator }) => [content, locator])).toEqual([
      ['12345678901234567890.12', 'row/9007199254740993'],
      ['9', 'row/10'],
      ['1.10', 'row/1'],
    ]);
  });

  it('is only read: the database refuses the rest, whatever the configuration says', async () => {
    const before = await database.sql('SELECT * FROM suppliers');
    const attempts: [string, string][] = [
      ['SELECT sneaky() AS content, 1 AS id', 'SOURCE_FORBIDDEN'],
      [`SELECT set_config('transaction_read_only', 'off', true) AS content, sneaky() AS id`, 'SOURCE_FORBIDDEN'],
      [`DELETE FROM suppliers RETURNING code AS content, code AS id`, 'SOURCE_BAD_ANSWER'],
      [
        `WITH gone AS (DELETE FROM suppliers RETURNING *) SELECT code AS content, 1 AS id FROM gone`,
        'SOURCE_BAD_ANSWER',
      ],
      [`SELECT 'x' AS content, 1 AS id) AS source; DROP TABLE secrets; SELECT * FROM (SELECT 1`, 'SOURCE_BAD_ANSWER'],
      [`SELECT nextval('knowledge.fact_versions_fact_seq_seq') AS content, 1 AS id`, 'SOURCE_FORBIDDEN'],
    ];
    for (const [query, code] of attempts)
      expect([query, await (await open(query)).codeOf('erp', {})]).toEqual([query, code]);
    expect(await database.sql('SELECT * FROM suppliers')).toEqual(before);
    expect(await database.sql(`SELECT to_regclass('secrets')::text AS secrets`)).toEqual([{ secrets: 'secrets' }]);
  });

  it('takes a parameter as a value, whatever it holds', async () => {
    const opened = await open('SELECT $1::text AS content, 1 AS id', PARAM);
    const text = `'; DROP TABLE secrets; -- $1 $2 \\ %`;
    expect(await opened.ask('erp', { text })).toMatchObject([{ content: text }]);
    expect(await opened.codeOf('erp', { text: 'a', limit: 1 })).toBe('INVALID_INPUT');
  });

  it('gives no more rows than asked for, and no more bytes than it may', async () => {
    const rows = await open(`SELECT 'row ' || n AS content, n AS id FROM generate_series(1, 1000000) n`);
    expect((await rows.ask('erp', {}, { limit: 3 })).map(({ content }) => content)).toEqual([
      'row 1',
      'row 2',
      'row 3',
    ]);
    const wide = await open(
      `SELECT repeat('x', 20000000) AS content, 1 AS id`,
      '    maxBytes: 100000\n    timeoutMs: 20000\n',
    );
    expect(await wide.codeOf('erp', {})).toBe('SOURCE_TOO_LARGE');
    // The connection that overflowed is not the next one's.
    const again = await open(
      `SELECT CASE WHEN $1 = 'big' THEN repeat('x', 20000000) ELSE $1 END AS content, 1 AS id`,
      `${PARAM}    maxBytes: 100000\n    timeoutMs: 20000\n    poolSize: 1\n`,
    );
    for (let n = 0; n < 3; n++) expect(await again.codeOf('erp', { text: 'big' })).toBe('SOURCE_TOO_LARGE');
    expect(await again.ask('erp', { text: 'small' })).toMatchObject([{ content: 'small' }]);
  });

  it('that takes too long is stopped at the server too', async () => {
    const opened = await open(`SELECT 'slow-one' AS content, pg_sleep(30)::text AS id`, '    timeoutMs: 300\n');
    expect(await opened.codeOf('erp', {})).toBe('SOURCE_TIMEOUT');
    await waitFor('the query to end', async () => (await queriesOf('%slow-one%')) === 0);
  });

  it('is no longer waited for once the caller gave up, and the next question has a connection', async () => {
    const opened = await open(
      `SELECT CASE WHEN $1 = 'wait' THEN pg_sleep(50)::text ELSE $1 END || 'waiting-one' AS content, 1 AS id`,
      `${PARAM}    poolSize: 1\n`,
    );
    const controller = new AbortController();
    const asked = opened.codeOf('erp', { text: 'wait' }, { signal: controller.signal });
    await waitFor('the query to run', async () => (await queriesOf('%waiting-one%')) === 1);
    controller.abort();
    expect(await asked).toBe('CANCELLED');
    expect(await opened.ask('erp', { text: 'go ' })).toMatchObject([{ content: 'go waiting-one' }]);
  });

  it('that a caller no longer waits for is stopped at the server at once, not at its deadline', async () => {
    const opened = await open(
      `SELECT 'given-up' AS content, pg_sleep(100)::text AS id`,
      '    timeoutMs: 110000\n    poolSize: 1\n',
    );
    const controller = new AbortController();
    const asked = opened.codeOf('erp', {}, { signal: controller.signal });
    await waitFor('the query to run', async () => (await queriesOf('%given-up%')) === 1);
    controller.abort();
    expect(await asked).toBe('CANCELLED');
    await waitFor('the query to end', async () => (await queriesOf('%given-up%')) === 0);
  });

  it.each([
    ['a query that is wrong', 'SELECT nothing AS content FROM nowhere', 'SOURCE_BAD_ANSWER', 'terminal'],
    ['a value that does not fit', `SELECT ('x' || $1)::int AS content, 1 AS id`, 'SOURCE_BAD_ANSWER', 'terminal'],
  ])('with %s says so, and quotes nothing', async (_what, query, code, disposition) => {
    const opened = await open(query, query.includes('$1') ? PARAM : '');
    const error = await opened.ask('erp', query.includes('$1') ? { text: 'canary' } : {}).catch((thrown) => thrown);
    expect(error).toMatchObject({ code, disposition });
    expect(error.message).not.toMatch(/canary|nowhere/);
    expect(await opened.sources.check()).toMatchObject([{ ok: !query.includes('nowhere') }]);
  });

  it('without a right to a table is forbidden; with a wrong password, too, and the password is in no error', async () => {
    const opened = await open(`SELECT a AS content, a AS id FROM secrets`, '', database.urlOf('cleanslate_retriever'));
    expect(await opened.codeOf('erp', {})).toBe('SOURCE_FORBIDDEN');
    const url = new URL(database.urlOf('cleanslate_retriever'));
    url.password = 'canary-password';
    const error = await (await open('SELECT 1 AS content, 1 AS id', '', url.href))
      .ask('erp', {})
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code: expect.stringMatching(/^SOURCE_(?:FORBIDDEN|UNAVAILABLE)$/) });
    expect(JSON.stringify({ ...error, message: error.message, cause: undefined })).not.toContain('canary');
  });

  it('C9: that accepts and says nothing ends with the deadline, and is asked again when it is back', async () => {
    const target = new URL(database.adminUrl);
    let silent = false;
    const sockets = new Set<Socket>();
    const proxy = createServer((near) => {
      const far = connect(Number(target.port), '127.0.0.1');
      for (const socket of [near, far])
        socket
          .on('error', () => undefined)
          .on('close', () => {
            near.destroy();
            far.destroy();
          });
      sockets.add(near).add(far);
      near.on('data', (data) => silent || far.write(data));
      far.on('data', (data) => silent || near.write(data));
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const url = new URL(database.adminUrl);
    url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const opened = await open(`SELECT 'here' AS content, 1 AS id`, '    timeoutMs: 3000\n    poolSize: 1\n', url.href);
    expect(await opened.ask('erp', {})).toHaveLength(1);
    silent = true;
    // An open connection that went silent, then one that is made while nobody speaks.
    for (let n = 0; n < 2; n++) expect(await opened.codeOf('erp', {})).toBe('SOURCE_TIMEOUT');
    silent = false;
    expect(await opened.ask('erp', {})).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });

  it('that ends its connections, idle or in use, ends no process; the next question is answered', async () => {
    const opened = await open(
      `SELECT CASE WHEN $1 = 'wait' THEN pg_sleep(20)::text ELSE $1 END AS content, 1 AS id`,
      PARAM,
    );
    await opened.ask('erp', { text: 'first' });
    const kill = () =>
      database.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cleanslate-source-erp'`,
      );
    expect((await kill()).length).toBeGreaterThan(0);
    await waitFor('an answer', async () => (await opened.codeOf('erp', { text: 'second' })) !== 'SOURCE_UNAVAILABLE');
    const asked = opened.codeOf('erp', { text: 'wait' });
    await waitFor(
      'the query to be ended',
      async () => (await queriesOf('%pg_sleep(20)%')) === 1 && (await kill()).length > 0,
    );
    expect(await asked).toBe('SOURCE_UNAVAILABLE');
    expect(await opened.ask('erp', { text: 'third' })).toMatchObject([{ content: 'third' }]);
  });
});
