import { AppError, TaskCancel, TaskGet } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Bus } from './bus.ts';
import { callEndpoint, request, requestMany } from './request.ts';
import { serve, serveEndpoint } from './serve.ts';
import { startTestBroker, type TestBroker } from './test-broker.ts';
import { until } from './until.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
let worker: Bus;
let scheduler: Bus;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer, { topology: false });
  worker = await broker.connect({ kind: 'worker', role: 'analyzer' });
  scheduler = await broker.connect({ kind: 'scheduler' });
});
afterAll(() => broker[Symbol.asyncDispose]());

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const bytes = (value: string) => new TextEncoder().encode(value);
const ask = (timeoutMs = 30_000) => request(worker, 'claim.analyzer', bytes('?'), { timeoutMs });

test('nobody there, no answer, no permission and no connection are told apart', async () => {
  await expect(ask()).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  const silent = serve(scheduler, 'claim.*', 'scheduler', () => new Promise<Uint8Array>(() => undefined));
  await scheduler.flush();
  await expect(ask(100)).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT', disposition: 'retryable' });
  void silent.stop();
  const denied = request(worker, 'ctl.acme.task.cancel', bytes('?'), { timeoutMs: 500 });
  await expect(denied).rejects.toMatchObject({ code: expect.stringMatching(/UNAUTHORIZED|REQUEST_TIMEOUT/) });
  const closed = await broker.connect({ kind: 'gateway' });
  await closed.close();
  await expect(request(closed, 'x', bytes(''), { timeoutMs: 500 })).rejects.toMatchObject({
    code: 'BROKER_UNAVAILABLE',
  });
});

test('what a handler throws, also synchronously, is answered and reaches the asker as its error', async () => {
  const thrown: unknown[] = [new AppError('RATE_LIMITED', 'slow down', { retryAfterMs: 7 }), 'a string', undefined];
  const served = serve(scheduler, 'claim.*', 'scheduler', () => {
    throw thrown.shift();
  });
  await scheduler.flush();
  await expect(ask()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 7, message: 'slow down' });
  await expect(ask()).rejects.toMatchObject({ code: 'INTERNAL' });
  await expect(ask()).rejects.toMatchObject({ code: 'INTERNAL' });
  await served.stop();
});

test('no more handlers at once than allowed; the rest waits, and beyond that is told so', async () => {
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const served = serve(
    scheduler,
    'claim.*',
    'scheduler',
    async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => release.push(resolve));
      running--;
      return bytes('done');
    },
    { concurrency: 2, maxWaiting: 3 },
  );
  await scheduler.flush();
  const asked = Array.from({ length: 7 }, () => ask().then(text, (error: AppError) => error.code));
  await until(() => release.length === 2, 'two running');
  const stopped = served.stop();
  const timer = setInterval(() => release.shift()?.(), 5);
  expect((await Promise.all(asked)).sort()).toEqual(['RATE_LIMITED', 'RATE_LIMITED', ...Array(5).fill('done')]);
  await stopped;
  clearInterval(timer);
  expect(most).toBe(2);
});

test('an endpoint answers each tenant under its own subject; errors travel with their code', async () => {
  const tenant = await broker.connect({ kind: 'tenant', tenantId: 'acme' });
  const served = serveEndpoint(scheduler, TaskCancel, '/services/scheduler', async ({ tenantId, data }) => {
    if (data.taskId === 'gone') throw new AppError('NOT_FOUND', `no task ${data.taskId} of ${tenantId}`);
    return { taskId: data.taskId, state: 'failed' as const, changed: true };
  });
  await scheduler.flush();
  const call = (taskId: string) => callEndpoint(tenant, TaskCancel, 'acme', { taskId }, { source: '/tenants/acme' });
  expect(await call('t1')).toEqual({ taskId: 't1', state: 'failed', changed: true });
  await expect(call('gone')).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'no task gone of acme' });
  const reply = await request(tenant, 'ctl.acme.task.cancel', bytes('{"p":'), { timeoutMs: 30_000 });
  expect(JSON.parse(text(reply)).data).toMatchObject({ ok: false, error: { code: 'UNPARSEABLE' } });
  const body = { specversion: '1.0', id: 'x', source: 'x', type: 'task.cancel.v1', time: new Date().toISOString() };
  const foreign = bytes(
    JSON.stringify({ ...body, datacontenttype: 'application/json', tenantid: 'globex', data: { taskId: 't1' } }),
  );
  const mismatch = await request(tenant, 'ctl.acme.task.cancel', foreign, { timeoutMs: 30_000 });
  expect(JSON.parse(text(mismatch)).data.error.code).toBe('TENANT_MISMATCH');
  await served.stop();
});

test('two replicas share a queue; requestMany collects and tolerates nobody', async () => {
  const gateways = [await broker.connect({ kind: 'gateway' }), await broker.connect({ kind: 'gateway' })];
  let answers = 0;
  const serving = gateways.map((bus) =>
    serve(bus, 'qry.*.task.get', TaskGet.servedBy, () => {
      answers++;
      return bytes('one');
    }),
  );
  await Promise.all(gateways.map((bus) => bus.flush()));
  const tenant = await broker.connect({ kind: 'tenant', tenantId: 'acme' });
  const got = await requestMany(tenant, 'qry.acme.task.get', bytes(''), { timeoutMs: 2_000 });
  expect([got.map(text), answers]).toEqual([['one'], 1]);
  await Promise.all(serving.map((served) => served.stop()));
  expect(await requestMany(tenant, 'qry.acme.task.get', bytes(''), { timeoutMs: 300 })).toEqual([]);
});
