import type { AddressInfo } from 'node:net';
import { Publisher, serveEndpoint } from '@cleanslate/bus';
import { KnowledgeLaunder } from '@cleanslate/contracts';
import { openDatabase, rotateApiKey } from '@cleanslate/store';
import { type Platform, startPlatform, testApiKey } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openApiKeys } from '../../services/gateway/src/http/api-keys.ts';
import { closeHttp, createHttpServer } from '../../services/gateway/src/http/server.ts';
import { openSessions } from '../../services/gateway/src/http/session.ts';
import { openLedger } from '../../services/gateway/src/ledger.ts';
import { readServerSentEvents } from './sse.ts';

let platform: Platform;
let url: string;
let readyAsked = 0;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  platform = stack.use(await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services: ['scheduler'] }));
  const bus = stack.use(await platform.broker.connect({ kind: 'gateway' }));
  const database = openDatabase({ url: platform.database.urlOf('cleanslate_gateway'), applicationName: 'test' });
  stack.defer(() => database.close());
  const app = createHttpServer({
    bus,
    publisher: new Publisher(bus),
    ledger: openLedger(database),
    keys: openApiKeys(database),
    submitTimeoutMs: 10_000,
    controlTimeoutMs: 500,
    maxStreams: 9,
    maxStreamsPerTenant: 9,
    drain: new AbortController().signal,
    sessions: openSessions(undefined),
    rate: { perSecond: 1_000, burst: 1_000 },
    origins: new Set<string>(),
    checks: { database: async () => void readyAsked++ },
    recheckMs: 250,
    onFailure: () => undefined,
  });
  await app.listen({ port: 0 });
  stack.defer(() => closeHttp(app, 1_000));
  url = `http://localhost:${(app.server.address() as AddressInfo).port}`;
});
afterAll(() => stack.disposeAsync());

test('strangers who ask again and again whether it is ready cost one question', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/readyz`)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // A slow machine may take longer over them than an answer lasts.
  expect(readyAsked).toBeLessThan(25);
});

test('a stream ends soon after its key was revoked, is not opened again with it, and goes on with the new one', async () => {
  const submit = (key: string) =>
    fetch(`${url}/v1/tasks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workflow: 'noop', input: {} }),
    });
  const open = (key: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  expect((await submit(testApiKey('acme'))).status).toBe(202);
  const stream = await open(testApiKey('acme'));
  const other = await open(testApiKey('globex'));
  const { key } = await rotateApiKey(platform.database.adminUrl, 'acme', 0);
  // It ends by itself: nothing here cuts it.
  let lastId: string | undefined;
  for await (const { id } of readServerSentEvents(stream)) lastId = id ?? lastId;
  if (lastId === undefined) throw new Error('the stream had no event');
  const resume = { 'last-event-id': lastId };
  expect((await open(testApiKey('acme'), resume)).status).toBe(401);

  expect((await submit(key)).status).toBe(202);
  const resumed = readServerSentEvents(await open(key, resume));
  const next = await resumed.next();
  expect(next.value?.id).toBeDefined();
  expect(next.value?.id).not.toBe(lastId);
  await resumed.return(undefined);
  // Whose key is good keeps the stream.
  expect((await submit(testApiKey('globex'))).status).toBe(202);
  const kept = readServerSentEvents(other);
  expect((await kept.next()).done).toBe(false);
  await kept.return(undefined);
});

test('a laundering that takes longer than HTTP waits is told to go on, with where its report will be', async () => {
  await using maintainer = await platform.broker.connect({ kind: 'knowledge-maintainer' });
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const endless = Promise.withResolvers<never>();
  const served = serveEndpoint(maintainer, KnowledgeLaunder, '/test', () => {
    resolve();
    return endless.promise;
  });
  await maintainer.flush();
  const launder = async (body: object) => {
    const headers = { authorization: `Bearer ${testApiKey('globex')}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v1/launderings`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, ...((await answer.json()) as { title: string; remedy: string }) };
  };
  const told = await launder({});
  await asked;
  expect(told).toMatchObject({
    status: 503,
    code: 'REQUEST_TIMEOUT',
    title: expect.stringContaining('may go on'),
    remedy: expect.stringMatching(/do not send it again.*GET \/v1\/launderings/),
  });
  expect(told.title).not.toContain('ctl.');
  // A preview is kept nowhere: it is asked for again.
  expect((await launder({ dryRun: true })).remedy).toContain('send it again later');
  endless.reject(new Error('the test is over'));
  await served.stop();
});
