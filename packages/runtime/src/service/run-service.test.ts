import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toNatsServerConfig } from '@cleanslate/bus';
import { PASSWORD, startTestBroker, TEST_PRINCIPALS, TEST_ROLES, until } from '@cleanslate/bus/testing';
import { type Service, startNatsServer, startService } from '@cleanslate/infra';
import { expect, onTestFinished, test } from 'vitest';
import { FakeScheduler } from '../worker/fake-scheduler.ts';

const entry = fileURLToPath(new URL('./slow-service-main.ts', import.meta.url));

async function start(
  env: Record<string, string>,
  waitReady = true,
  ofNode: Record<string, string> = {},
): Promise<Service> {
  const all = { NATS_PASSWORD: PASSWORD, GRACE_MS: '3000', ...env };
  return startService({ name: 'analyzer', entry, args: [JSON.stringify(all)], env: ofNode, waitReady });
}

test('SIGTERM in the middle of two steps, twice: one finishes, one is handed back, exit 0 before the grace period is over', async () => {
  await using broker = await startTestBroker(startNatsServer);
  await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  const service = await start({ NATS_URL: broker.server.url, GRACE_MS: '10000' });
  const [short, long] = [scheduler.attempt(), scheduler.attempt()];
  await scheduler.ring('analyzer', short, { input: { ms: 1_500 } });
  await scheduler.ring('analyzer', long, { input: { ms: 60_000 } });
  await until(() => scheduler.claims.length === 2, 'claimed');
  await new Promise((resolve) => setTimeout(resolve, 300));
  const stopping = performance.now();
  await service.kill('SIGTERM');
  await service.kill('SIGTERM');
  await service.kill('SIGINT');
  const exit = await service.exited;
  expect(exit.code).toBe(0);
  expect(performance.now() - stopping).toBeLessThan(60_000);
  await until(() => scheduler.reports.length === 2, 'both reports');
  expect(scheduler.reportsOf(short.taskId)).toMatchObject([{ outcome: 'succeeded', output: { ms: 1_500 } }]);
  expect(scheduler.reportsOf(long.taskId)).toEqual([{ outcome: 'released', reason: 'drain' }]);
});

test('a broker away for long does not end the process; ready again after it is back', async () => {
  await using broker = await startTestBroker(startNatsServer);
  await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  await using service = await start({ NATS_URL: broker.server.url });
  const ready = async () => (await fetch(`${service.healthUrl}/readyz`)).status;
  await broker.server.kill();
  await until(async () => (await ready()) === 503, 'not ready');
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect((await fetch(`${service.healthUrl}/healthz`)).status).toBe(200);
  await broker.server.restart();
  await until(async () => (await ready()) === 200, 'ready again');
  await scheduler.ring('analyzer', scheduler.attempt(), { input: { ms: 1 } });
  await until(() => scheduler.reports.length === 1, 'working');
  expect(service.exit).toBeUndefined();
});

test('credentials taken away for good end the process with 1', async () => {
  await using broker = await startTestBroker(startNatsServer);
  await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  await using service = await start({ NATS_URL: broker.server.url });
  const others = TEST_PRINCIPALS.filter((principal) => principal.kind !== 'worker');
  const principals = others.map((principal) => ({ principal, password: PASSWORD }));
  await broker.server.reload(toNatsServerConfig({ principals, roles: TEST_ROLES }));
  expect((await service.exited).code).toBe(1);
  expect(scheduler.heartbeats.length).toBeGreaterThan(0);
});

test('what was compiled for a start is kept, also where the process is killed', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'cleanslate-cache-'));
  onTestFinished(() => rm(cache, { recursive: true, force: true }));
  await using service = await start({ NATS_URL: 'nats://127.0.0.1:1' }, false, { NODE_COMPILE_CACHE: cache });
  await until(() => service.healthUrl !== undefined, 'the start');
  await service.kill('SIGKILL');
  await service.exited;
  expect((await readdir(cache, { recursive: true })).length).toBeGreaterThan(100);
});

test.each([
  ['a rejection', true, 'nobody awaits this'],
  ['an exception', 'throw', 'nobody catches this'],
])(
  '%s that an executor left to nobody is its own failure: what else ran is handed back, the process ends with 1',
  async (_, forget, message) => {
    await using broker = await startTestBroker(startNatsServer);
    await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
    await using service = await start({ NATS_URL: broker.server.url });
    const [innocent, worn, faulty] = [scheduler.attempt(), scheduler.attempt({ attempt: 11 }), scheduler.attempt()];
    for (const attempt of [innocent, worn]) await scheduler.ring('analyzer', attempt, { input: { ms: 60_000 } });
    await until(() => scheduler.heartbeats.at(-1)?.running.length === 2, 'both at work');
    await scheduler.ring('analyzer', faulty, { input: { ms: 60_000, forget } });
    expect((await service.exited).code).toBe(1);
    await until(() => scheduler.reports.length === 2, 'both reports');
    expect(scheduler.reportsOf(faulty.taskId)).toMatchObject([
      {
        outcome: 'failed',
        error: { code: 'EXECUTOR_FAILED', disposition: 'retryable', message: expect.stringContaining(message) },
      },
    ]);
    expect(scheduler.reportsOf(innocent.taskId)).toEqual([{ outcome: 'released', reason: 'drain' }]);
    // One that has come round this often may be what ends the workers: its lease decides, and counts.
    expect(scheduler.reportsOf(worn.taskId)).toEqual([]);
  },
);

test('a rejection that comes after its step has ended: what else runs is handed back', async () => {
  await using broker = await startTestBroker(startNatsServer);
  await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  await using service = await start({ NATS_URL: broker.server.url });
  const [innocent, faulty] = [scheduler.attempt(), scheduler.attempt()];
  await scheduler.ring('analyzer', innocent, { input: { ms: 60_000 } });
  await scheduler.ring('analyzer', faulty, { input: { ms: 1, forget: 'late' } });
  expect((await service.exited).code).toBe(1);
  await until(() => scheduler.reports.length === 2, 'both reports');
  expect(scheduler.reportsOf(faulty.taskId)).toMatchObject([{ outcome: 'succeeded' }]);
  expect(scheduler.reportsOf(innocent.taskId)).toEqual([{ outcome: 'released', reason: 'drain' }]);
  expect(service.lastLines(20).join('\n')).toContain(faulty.taskId);
});

test('a rejection in a listener of its signal is the executor’s own, though a timer calls it: what else runs is handed back', async () => {
  await using broker = await startTestBroker(startNatsServer);
  await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  await using service = await start({ NATS_URL: broker.server.url });
  const [innocent, faulty] = [scheduler.attempt(), scheduler.attempt()];
  await scheduler.ring('analyzer', innocent, { input: { ms: 60_000 } });
  await until(() => scheduler.heartbeats.at(-1)?.running.length === 1, 'at work');
  scheduler.remainingMs = 300;
  await scheduler.ring('analyzer', faulty, { input: { ms: 60_000, forget: 'abort' } });
  expect((await service.exited).code).toBe(1);
  await until(() => scheduler.reports.length === 2, 'both reports');
  expect(scheduler.reportsOf(faulty.taskId)).toMatchObject([{ outcome: 'failed', error: { code: 'ATTEMPT_TIMEOUT' } }]);
  expect(scheduler.reportsOf(innocent.taskId)).toEqual([{ outcome: 'released', reason: 'drain' }]);
});

test('a rejection nobody handled is logged and ends the process with 1', async () => {
  await using broker = await startTestBroker(startNatsServer);
  await using scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  await using service = await start({ NATS_URL: broker.server.url });
  await scheduler.ring('analyzer', scheduler.attempt(), { input: { ms: 10_000, forget: true } });
  expect((await service.exited).code).toBe(1);
  expect(service.lastLines(20).join('\n')).toContain('nobody awaits this');
});

test('wrong credentials and a faulty configuration: exit 1, the remedy on the terminal', async () => {
  await using broker = await startTestBroker(startNatsServer);
  const url = broker.server.url;
  const ends = async (env: Record<string, string>) => {
    const service = await start(env, false);
    const { code } = await service.exited;
    return [code, service.lastLines(20).join('\n')] as const;
  };
  const [wrong, text] = await ends({ NATS_URL: url, NATS_PASSWORD: 'not-the-password' });
  expect([wrong, text]).toEqual([1, expect.stringContaining('check NATS_USER and NATS_PASSWORD')]);
  expect(text).not.toContain('not-the-password');
  const [faulty, list] = await ends({ SLOTS: '1e9' });
  expect([faulty, list]).toEqual([1, expect.stringMatching(/NATS_URL is missing[\s\S]*SLOTS must be a whole number/)]);
});
