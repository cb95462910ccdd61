import { applyTopology } from '@cleanslate/bus';
import { startTestBroker, TEST_ROLES, until } from '@cleanslate/bus/testing';
import { AppError } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineExecutor } from '../executor/executor.ts';
import { sleep, startTestWorker, testExecutor } from './test-worker.ts';

const start = () => startTestBroker(startNatsServer);
const slow = (ms: number, onRun: () => void) =>
  testExecutor(async ({ signal }) => {
    onRun();
    await sleep(ms);
    signal.throwIfAborted();
    return {};
  });

test('one failed heartbeat: the run goes on, one execution, nothing unhandled', async () => {
  await using broker = await start();
  let runs = 0;
  await using kit = await startTestWorker(broker, [slow(3_500, () => runs++)], { leaseMs: 1_000 });
  const { scheduler } = kit;
  scheduler.leaseMs = 1_000;
  let failures = 1;
  scheduler.onHeartbeat = (beat) => {
    if (beat.running.length > 0 && failures-- > 0) throw new Error('a fault of the scheduler');
    return {};
  };
  await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => scheduler.reports.length === 1, 'the report');
  expect([runs, scheduler.reports[0]?.data.outcome]).toEqual([1, 'succeeded']);
  expect(scheduler.heartbeats.filter((beat) => beat.running.length > 0).length).toBeGreaterThan(1);
});

test('no heartbeat answered for more than a lease: results are reported all the same, the ledger decides', async () => {
  await using broker = await start();
  let runs = 0;
  await using kit = await startTestWorker(broker, [slow(2_500, () => runs++)], { leaseMs: 1_000 });
  const { scheduler } = kit;
  scheduler.onHeartbeat = (beat) => {
    if (beat.running.length > 0) throw new Error('down');
    return {};
  };
  await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => scheduler.reports.length === 1, 'the report');
  expect([runs, scheduler.reports[0]?.data.outcome]).toEqual([1, 'succeeded']);
});

test('a broker killed while steps run: each runs once, and its report is stored after the restart', async () => {
  await using broker = await start();
  let runs = 0;
  await using kit = await startTestWorker(broker, [slow(3_000, () => runs++)]);
  const { scheduler, worker } = kit;
  for (let i = 0; i < 4; i++) await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => runs === 4, 'running');
  // The grants must have been acted on: an ack lost with the broker is a redelivery, which the claim then stops.
  await sleep(100);
  await broker.server.kill();
  // They end while it is away.
  await sleep(4_000);
  expect(await worker.checks()['bus']?.()).toContain('not connected');
  expect(scheduler.reports.length).toBe(0);
  await broker.server.restart();
  await until(() => new Set(scheduler.reports.map(({ envelope }) => envelope.taskid)).size === 4, 'all reports');
  await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => runs === 5, 'the next step');
  expect(runs).toBe(5);
  await until(async () => (await worker.checks()['bus']?.()) === undefined, 'ready again');
});

test('an event loop blocked for 5 s and a broker stopped for 10 s: no crash, work goes on, nothing twice', async () => {
  await using broker = await start();
  const done = new Map<string, number>();
  const counting = testExecutor(async ({ taskId }) => {
    done.set(taskId, (done.get(taskId) ?? 0) + 1);
    return {};
  });
  await using kit = await startTestWorker(broker, [counting]);
  const { scheduler } = kit;
  const step = async () => {
    const before = scheduler.reports.length;
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.reports.length === before + 1, 'one more report');
  };
  await step();
  const end = performance.now() + 5_000;
  while (performance.now() < end);
  await step();
  await broker.server.suspend();
  await sleep(10_000);
  await broker.server.resume();
  await step();
  expect([...done.values()]).toEqual([1, 1, 1]);
});

test('credentials that may not do what the role needs: not ready, the subjects are named', async () => {
  await using broker = await start();
  const bus = await broker.connect({ kind: 'worker', role: 'retriever' });
  await using kit = await startTestWorker(broker, [slow(1, () => undefined)], { bus });
  const { worker } = kit;
  const problem = async (name: string) => String(await worker.checks()[name]?.());
  await until(
    async () => (await problem('bus')).includes(`abort.analyzer.${worker.identity.workerId}`),
    'the abort subject',
  );
  await until(
    async () => (await problem('consumer')).includes('CONSUMER.MSG.NEXT.COMMANDS.work-analyzer'),
    'the pull subject',
  );
});

test('a stored report that the ledger keeps silent about is said again: first as the same message, then as another one', async () => {
  await using broker = await start();
  await using kit = await startTestWorker(broker, [slow(1, () => undefined)]);
  const { scheduler } = kit;
  scheduler.settles = false;
  await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => kit.logs.length > 0 && scheduler.reports.length === 1, 'the report');
  await until(async () => (await repeats(kit.metrics)) >= 1, 'said again');
  expect(scheduler.reports.length).toBe(1);
  await until(() => scheduler.reports.length === 2, 'another saying of it');
  scheduler.settles = true;
  await until(() => scheduler.heartbeats.at(-1)?.reported.length === 0, 'settled');
});

async function repeats(metrics: { registry: { metrics(): Promise<string> } }): Promise<number> {
  const line = (await metrics.registry.metrics())
    .split('\n')
    .find((text) => text.startsWith('slate_reports_repeated_total{'));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('a dependency that is away: after three attempts the worker takes no more for a while, and goes on by itself', async () => {
  await using broker = await start();
  let back = false;
  let runs = 0;
  const executor = testExecutor(() => {
    runs++;
    if (back) return Promise.resolve({});
    throw new AppError('DATABASE_UNAVAILABLE', 'it is away');
  });
  await using kit = await startTestWorker(broker, [executor], { slots: 1, leaseMs: 300 });
  const { scheduler, logs } = kit;
  scheduler.leaseMs = 300;
  for (let n = 0; n < 8; n++) await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => logs.some(({ msg }) => String(msg).includes('a dependency is away')), 'the breaker open');
  expect(runs).toBe(3);
  await until(() => scheduler.heartbeats.at(-1)?.free === 0, 'no free slot announced');
  back = true;
  await until(() => scheduler.reports.length === 8, 'the rest');
  const outcomes = scheduler.reports.map(({ data }) => data.outcome);
  expect([outcomes.filter((outcome) => outcome === 'failed').length, runs]).toEqual([3, 8]);
});

test('what one executor needs is away: the others work on, its own attempts are handed back untried, and one probe finds out', async () => {
  await using broker = await start();
  let back = false;
  const runs = { away: 0, fine: 0 };
  const away = testExecutor(() => {
    runs.away++;
    if (back) return Promise.resolve({});
    throw new AppError('MODEL_UNAVAILABLE', 'it is away', { disposition: 'pause' });
  });
  const fine = defineExecutor({
    role: 'analyzer',
    name: 'test/fine',
    input: z.record(z.string(), z.unknown()),
    output: z.strictObject({}),
    run: () => {
      runs.fine++;
      return {};
    },
  });
  await using kit = await startTestWorker(broker, [away, fine], { slots: 4 });
  const { scheduler } = kit;
  const ring = (executor: string) => scheduler.ring('analyzer', scheduler.attempt(), { executor });
  await ring('test/fine');
  await until(() => runs.fine === 1, 'the other one in use');
  for (let n = 0; n < 12; n++) await ring('test/step');
  await until(() => scheduler.reports.length === 13, 'all of them reported');
  // Four at once may be under way before the third failure is known.
  expect(runs.away).toBeLessThanOrEqual(6);
  const refused = scheduler.reports.flatMap(({ data }) => (data.outcome === 'failed' ? [data.error] : []));
  expect(refused.filter(({ message }) => message.startsWith('not tried')).length).toBeGreaterThanOrEqual(6);
  for (const error of refused) expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE', disposition: 'pause' });
  await ring('test/fine');
  await until(() => runs.fine === 2, 'the other one works on');
  back = true;
  await until(async () => {
    await ring('test/step');
    await sleep(100);
    return scheduler.reports.filter(({ data }) => data.outcome === 'succeeded').length > 4;
  }, 'the probe got through, and others after it');
});

test('a stream that takes no reports, whatever else works: not ready until it does, and the report is kept', async () => {
  await using broker = await start();
  await using kit = await startTestWorker(broker, [testExecutor(async () => ({}))]);
  const { scheduler, worker } = kit;
  await broker.admin.raw.request('$JS.API.STREAM.DELETE.REPORTS');
  await scheduler.ring('analyzer', scheduler.attempt());
  await until(() => worker.checks()['reports']?.() !== undefined, 'not ready', 30_000);
  expect(worker.checks()['reports']?.()).toMatch(/^the stream REPORTS takes nothing for \d+ s$/);
  await applyTopology(broker.admin, { roles: TEST_ROLES });
  await until(() => worker.checks()['reports']?.() === undefined, 'ready again', 30_000);
});
