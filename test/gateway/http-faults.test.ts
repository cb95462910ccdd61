import { connect as connectSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Publisher } from '@cleanslate/bus';
import { openDatabase } from '@cleanslate/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpServer } from '../../services/gateway/src/http/server.ts';
import { openSessions } from '../../services/gateway/src/http/session.ts';
import { openLedger } from '../../services/gateway/src/ledger.ts';
import { bearer, type GatewayPlatform, startWithGateway } from './platform.ts';

let world: GatewayPlatform;
beforeAll(async () => {
  world = await startWithGateway(['scheduler', 'gateway'], { MAX_STREAMS: '8', SUBMIT_TIMEOUT_MS: '8000' });
});
afterAll(async () => {
  await world?.platform[Symbol.asyncDispose]();
});

type Problem = { readonly status: number; readonly code: string; readonly title: string };

async function submit(headers = bearer()): Promise<Response> {
  return await fetch(`${world.url()}/v1/tasks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: 'noop', input: {} }),
  });
}

/** Bytes on a bare connection, and all that comes back until the gateway closes it. */
async function speak(bytes: string): Promise<{ readonly head: string; readonly problem: Problem }> {
  const socket = connectSocket(Number(new URL(world.url()).port), '127.0.0.1');
  socket.write(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { head, problem: JSON.parse(body) };
}

test.each([
  [
    'headers too large',
    `GET /v1/tasks HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    '16384 bytes',
  ],
  ['no HTTP', 'hello\r\n\r\n', 400, 'not an HTTP/1.1 request'],
  ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400, 'not an HTTP'],
  ['a path nobody can decode', 'GET /v1/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400, '%zz'],
])('%s: a problem like any other', async (_name, bytes, status, says) => {
  const { head, problem } = await speak(bytes);
  expect(head).toContain(`HTTP/1.1 ${status} `);
  expect(head.toLowerCase()).toContain('content-type: application/problem+json');
  expect(problem).toMatchObject({ status, code: 'INVALID_INPUT', title: expect.stringContaining(says) });
});

test('streams of one tenant are bounded by a quarter, and leave the others their place', async () => {
  const cut = new AbortController();
  const open = async (tenant: string) => {
    const { taskId } = (await (await submit(bearer(tenant))).json()) as { taskId: string };
    return await fetch(`${world.url()}/v1/tasks/${taskId}/events`, { headers: bearer(tenant), signal: cut.signal });
  };
  const own = [await open('acme'), await open('acme')];
  expect(own.map(({ status }) => status)).toEqual([200, 200]);
  const refused = await open('acme');
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({
    status: 429,
    code: 'RATE_LIMITED',
    title: expect.stringContaining('2 '),
  });
  expect((await open('globex')).status).toBe(200);
  cut.abort();
});

/** Nothing of the inside may be in it. */
function expectPlain(status: number, retryAfter: unknown, body: string): Problem {
  expect(status).toBe(503);
  expect(Number(retryAfter)).toBeGreaterThan(0);
  expect(body).not.toMatch(/\d+\.\d+\.\d+\.\d+|ECONN|flush|Error:|\$JS/);
  return JSON.parse(body);
}

test('a database that is away is named, without its address; the log hears all of it', async () => {
  await using bus = await world.platform.broker.connect({ kind: 'gateway' });
  const url = 'postgres://cleanslate_gateway:x@127.0.0.1:9/none';
  await using database = openDatabase({ url, applicationName: 'test' });
  const failures: string[] = [];
  const app = createHttpServer({
    bus,
    publisher: new Publisher(bus),
    ledger: openLedger(database),
    checks: {},
    submitTimeoutMs: 1_000,
    maxStreams: 1,
    maxStreamsPerTenant: 1,
    drain: new AbortController().signal,
    keys: { authenticate: async () => ({ tenantId: 'acme', keyId: 'test' }) },
    sessions: openSessions(undefined),
    rate: { perSecond: 10, burst: 10 },
    origins: new Set<string>(),
    onFailure: (error) => failures.push(error.message),
  });
  const { statusCode, headers, body } = await app.inject({ url: '/v1/tasks', headers: bearer() });
  expect(expectPlain(statusCode, headers['retry-after'], body)).toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
    title: expect.stringContaining('the database is away'),
  });
  expect(failures).toEqual([expect.stringContaining('ECONNREFUSED')]);
  await app.close();
});

test('a broker that is away is named, without what the client of it said', async () => {
  expect((await submit()).status).toBe(202);
  await world.platform.broker.server.stop();
  const answer = await submit();
  expect(expectPlain(answer.status, answer.headers.get('retry-after'), await answer.text())).toMatchObject({
    code: 'BROKER_UNAVAILABLE',
    title: expect.stringContaining('the message broker is away'),
  });
});
