import { startTestBroker, type TestBroker, until } from '@cleanslate/bus/testing';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { defineExecutor } from '../executor/executor.ts';
import { EarlyRuns } from './early-runs.ts';
import type { FinishDesk } from './finish-desk.ts';
import { SlowWatch } from './slow-watch.ts';
import type { StepRunnerOptions } from './step-runner.ts';
import { sleep, startTestWorker, testExecutor } from './test-worker.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

const outcomes = (logs: readonly Record<string, unknown>[]) =>
  logs.filter((line) => line['msg'] === 'step').map((line) => line['outcome']);

test('a pure step is handed in with the question for its claim: no claim before, no report behind', async () => {
  let runs = 0;
  const pure = testExecutor(async ({ input }) => ({ echo: String(input['say']), runs: ++runs }), { pure: true });
  await using kit = await startTestWorker(broker, [pure]);
  const { scheduler } = kit;
  const attempt = scheduler.attempt();
  await scheduler.ring('analyzer', attempt, { input: { say: 'hi' } });
  await until(() => outcomes(kit.logs).length === 1, 'the step');
  expect(scheduler.finished).toMatchObject([{ fence: attempt, output: { echo: 'hi', runs: 1 } }]);
  expect([scheduler.claims, scheduler.reports]).toEqual([[], []]);
  // Acked: nobody is given it again, and its slot is free.
  await until(() => scheduler.heartbeats.at(-1)?.free === 4, 'a free slot');
  expect(scheduler.heartbeats.at(-1)).toMatchObject({ running: [], reported: [] });
  await sleep(200);
  expect(runs).toBe(1);
});

test.each(['lost', 'over'] as const)('%s: what it computed is dropped', async (answer) => {
  let runs = 0;
  const pure = testExecutor(async () => ({ runs: ++runs }), { pure: true });
  await using kit = await startTestWorker(broker, [pure], { answer: () => answer });
  await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
  await until(() => kit.scheduler.finished.length === 1, 'handed in');
  await until(() => kit.scheduler.heartbeats.at(-1)?.free === 4, 'a free slot');
  expect(outcomes(kit.logs)).toEqual([]);
  expect([runs, kit.scheduler.claims.length, kit.scheduler.reports.length]).toEqual([1, 0, 0]);
});

test('a scheduler that does not know the message: claimed and reported like any other, computed once', async () => {
  let runs = 0;
  const pure = testExecutor(async () => ({ runs: ++runs }), { pure: true });
  await using kit = await startTestWorker(broker, [pure]);
  const { scheduler } = kit;
  scheduler.takesFinished = false;
  const [first, second] = [scheduler.attempt(), scheduler.attempt()];
  await scheduler.ring('analyzer', first);
  await until(() => scheduler.reportsOf(first.taskId).length === 1, 'the first report');
  expect(scheduler.reportsOf(first.taskId)).toMatchObject([{ outcome: 'succeeded', output: { runs: 1 } }]);
  // It is not asked again for a while: a known claim comes first.
  await scheduler.ring('analyzer', second);
  await until(() => scheduler.reportsOf(second.taskId).length === 1, 'the second report');
  expect(scheduler.claims.map(({ taskId }) => taskId)).toEqual([first.taskId, second.taskId]);
  expect(runs).toBe(2);
});

test('one output that can not travel goes its own way; those handed in with it do not', async () => {
  let [shape, deep]: [z.ZodType, unknown] = [z.number(), 1];
  for (let i = 0; i < 60; i++) [shape, deep] = [z.array(shape), [deep]];
  const pure = defineExecutor({
    role: 'analyzer',
    name: 'test/step',
    pure: true,
    input: z.strictObject({ say: z.string() }),
    output: z.strictObject({ value: z.union([shape, z.string()]) }),
    run: ({ input }) => ({ value: input['say'] === 'deep' ? deep : 'flat' }),
  });
  await using kit = await startTestWorker(broker, [pure]);
  const { scheduler } = kit;
  const attempts = Array.from({ length: 4 }, () => scheduler.attempt());
  await Promise.all(
    attempts.map((attempt, i) => scheduler.ring('analyzer', attempt, { input: { say: i === 2 ? 'deep' : 'flat' } })),
  );
  await until(() => scheduler.finished.length === 3, 'the flat ones');
  await until(() => scheduler.claims.length === 1, 'the claim of the deep one');
  expect(scheduler.claims.map(({ taskId }) => taskId)).toEqual([attempts[2]?.taskId]);
  // The way stays open for the next one.
  await scheduler.ring('analyzer', scheduler.attempt(), { input: { say: 'flat' } });
  await until(() => scheduler.finished.length === 4, 'the next one');
});

test('one that is deaf to its signal does not run beside itself: its doorbell goes back when it has ended', async () => {
  // The doorbell would come again after one second.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const ended = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const deaf = testExecutor(
    async () => {
      most = Math.max(most, ++running);
      await ended.promise;
      running--;
      return {};
    },
    { pure: true },
  );
  let asked = 0;
  await using kit = await startTestWorker(broker, [deaf], {
    abandonMs: 60_000,
    answer: () => (++asked <= 4 ? 'busy' : 'granted'),
  });
  await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
  await until(() => asked === 4, 'no claim for it');
  await sleep(2_000);
  expect([most, asked]).toEqual([1, 4]);
  ended.resolve();
  await until(() => kit.scheduler.reports.length === 1, 'the report');
  expect(most).toBe(1);
});

test('one that takes its time is claimed while it runs', async () => {
  const gate = Promise.withResolvers<void>();
  const slow = testExecutor(
    async () => {
      await gate.promise;
      return { waited: true };
    },
    { pure: true },
  );
  await using kit = await startTestWorker(broker, [slow]);
  const { scheduler } = kit;
  const attempt = scheduler.attempt();
  await scheduler.ring('analyzer', attempt);
  await until(() => scheduler.claims.length === 1, 'the claim');
  expect(outcomes(kit.logs)).toEqual([]);
  gate.resolve();
  await until(() => scheduler.reportsOf(attempt.taskId).length === 1, 'the report');
  expect(scheduler.finished).toEqual([]);
});

test('one that reaches its own time-out before it is claimed is reported as that', async () => {
  const slow = testExecutor(
    async ({ signal }) => {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return {};
    },
    { pure: true, timeoutMs: 20 },
  );
  await using kit = await startTestWorker(broker, [slow]);
  const attempt = kit.scheduler.attempt();
  await kit.scheduler.ring('analyzer', attempt);
  await until(() => kit.scheduler.reportsOf(attempt.taskId).length === 1, 'the report');
  expect(kit.scheduler.reportsOf(attempt.taskId)).toMatchObject([
    { outcome: 'failed', error: { code: 'ATTEMPT_TIMEOUT' } },
  ]);
});

test('a doorbell that comes again is claimed first: a step that takes its worker down is counted', async () => {
  const order: string[] = [];
  const pure = testExecutor(
    async () => {
      order.push('run');
      return {};
    },
    { pure: true },
  );
  let asked = 0;
  await using kit = await startTestWorker(broker, [pure], {
    answer: () => {
      order.push('asked');
      // Silence to the first question, and to the claim that follows it: the doorbell is handed back.
      return ++asked <= 5 ? 'busy' : 'granted';
    },
  });
  await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
  await until(() => kit.scheduler.reports.length === 1, 'the report');
  expect(kit.scheduler.finished).toHaveLength(1);
  expect(order.slice(-2)).toEqual(['asked', 'run']);
});

test('failures, and what leaves traces outside, go the way of every step', async () => {
  const failing = testExecutor(
    async ({ blackboard, fence }) => {
      await expect(fence()).rejects.toThrow('pure');
      await blackboard.propose({} as never);
      return {};
    },
    { pure: true },
  );
  await using kit = await startTestWorker(broker, [failing]);
  const attempt = kit.scheduler.attempt();
  await kit.scheduler.ring('analyzer', attempt);
  await until(() => kit.scheduler.reports.length === 1, 'the report');
  expect(kit.scheduler.finished).toEqual([]);
  expect(kit.scheduler.claims).toMatchObject([attempt]);
  expect(kit.scheduler.reportsOf(attempt.taskId)).toMatchObject([
    { outcome: 'failed', error: { code: 'OUTPUT_CONTRACT', message: expect.stringContaining('pure') } },
  ]);
});

test('a run that throws, though none should, is its attempt’s to tell: heard by nobody, it would end the process', async () => {
  const early = new EarlyRuns(
    { executors: new Map(), slow: new SlowWatch(50) } as unknown as StepRunnerOptions,
    { open: true } as FinishDesk,
  );
  await expect(early.unlessSlow(Promise.reject(new Error('a fault of the kit')))).rejects.toThrow('a fault');
});
