import { startTestBroker, type TestBroker, until } from '@cleanslate/bus/testing';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sleep, startTestWorker, testExecutor } from './test-worker.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

const steps = testExecutor(async ({ input, signal }) => {
  const ms = Number(input['ms']);
  await Promise.race([
    sleep(ms),
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  ]);
  return { ms };
});
const deaf = testExecutor(() => new Promise(() => undefined));

test('what fits into the grace period finishes; the rest is handed back with a stored report', async () => {
  await using kit = await startTestWorker(broker, [steps], { graceMs: 5_000, slots: 2 });
  const { scheduler, worker } = kit;
  const [short, long, waiting] = [scheduler.attempt(), scheduler.attempt(), scheduler.attempt()];
  await scheduler.ring('analyzer', short, { input: { ms: 600 } });
  await scheduler.ring('analyzer', long, { input: { ms: 60_000 } });
  await until(() => scheduler.claims.length === 2, 'both claimed');
  await sleep(100);
  await scheduler.ring('analyzer', waiting, { input: { ms: 1 } });
  const started = performance.now();
  await Promise.all([worker.drain(), worker.drain()]);
  expect(performance.now() - started).toBeLessThan(30_000);
  await until(() => scheduler.reports.length === 2, 'both reports');
  expect(scheduler.reportsOf(short.taskId)).toMatchObject([{ outcome: 'succeeded' }]);
  expect(scheduler.reportsOf(long.taskId)).toEqual([{ outcome: 'released', reason: 'drain' }]);
  expect(scheduler.reportsOf(waiting.taskId)).toEqual([]);
  expect(scheduler.claims.length).toBe(2);
  // Nobody dispatches to a worker that leaves.
  await until(() => scheduler.heartbeats.at(-1)?.slots === 0, 'slots withdrawn');
  await using next = await startTestWorker(broker, [steps], {
    bus: await broker.connect({ kind: 'worker', role: 'analyzer' }),
  });
  await until(
    () => [...scheduler.reports, ...next.scheduler.reports].length === 3,
    'the waiting one, by another worker',
  );
});

test('an executor that ignores its signal is handed back too', async () => {
  await using kit = await startTestWorker(broker, [deaf], { graceMs: 100 });
  const { scheduler, worker } = kit;
  await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => scheduler.heartbeats.at(-1)?.running.length === 1, 'running');
  await worker.drain();
  await until(() => scheduler.reports.length === 1, 'the report');
  expect(scheduler.reports[0]?.data).toEqual({ outcome: 'released', reason: 'drain' });
});

test('a fault during a drain cuts the grace period short: what runs is handed back, the faulty attempt fails', async () => {
  const leave = Promise.withResolvers<void>();
  const leaving = testExecutor(async ({ input }) => {
    if (input['leave'] !== true) return new Promise(() => undefined);
    await leave.promise;
    // As the handler of the process does, which is called in the context of the executor.
    void kit.worker.endFor(new Error('left to nobody'));
    return new Promise(() => undefined);
  });
  await using kit = await startTestWorker(broker, [leaving], { graceMs: 600_000 });
  const { scheduler, worker } = kit;
  const [faulty, innocent] = [scheduler.attempt(), scheduler.attempt()];
  await scheduler.ring('analyzer', faulty, { input: { leave: true } });
  await scheduler.ring('analyzer', innocent);
  await until(() => scheduler.heartbeats.at(-1)?.running.length === 2, 'both running');
  const drained = worker.drain();
  await until(() => scheduler.heartbeats.at(-1)?.slots === 0, 'draining');
  leave.resolve();
  await drained;
  await until(() => scheduler.reports.length === 2, 'both reports');
  expect(scheduler.reportsOf(innocent.taskId)).toEqual([{ outcome: 'released', reason: 'drain' }]);
  expect(scheduler.reportsOf(faulty.taskId)).toMatchObject([{ outcome: 'failed', error: { code: 'EXECUTOR_FAILED' } }]);
});
