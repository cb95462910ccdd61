import { startTestBroker, type TestBroker, until } from '@cleanslate/bus/testing';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestWorker, testExecutor } from '../worker/test-worker.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

describe('sessions in a worker', () => {
  test('E3: 50 runs of one executor at once, of 10 tenants under one session id: none meets a word of another tenant', async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    const chat = testExecutor(async (ctx) => {
      const session = ctx.session('shared-name');
      session.append({ from: 'user', text: `canary of ${ctx.tenantId}` });
      if (++running === 50) gate.resolve();
      await gate.promise;
      return { heard: (await session.list()).map(({ text }) => text).join('|') };
    });
    await using kit = await startTestWorker(broker, [chat], { slots: 50 });
    const { scheduler } = kit;
    const attempts = Array.from({ length: 50 }, (_, n) => scheduler.attempt({ tenantId: `tenant-${n % 10}` }));
    for (const attempt of attempts) await scheduler.ring('analyzer', attempt);
    await until(() => scheduler.reports.length === 50, 'all reports');
    for (const { tenantId, taskId } of attempts) {
      const [report] = scheduler.reportsOf(taskId);
      if (report?.outcome !== 'succeeded') throw new Error(JSON.stringify(report));
      expect(new Set(String(report.output['heard']).split('|'))).toEqual(new Set([`canary of ${tenantId}`]));
    }
  });

  test('after its end a step can say nothing more', async () => {
    let leftover: (() => void) | undefined;
    const late = testExecutor(async (ctx) => {
      const session = ctx.session('chat-1');
      leftover = () => session.append({ from: 'agent', text: 'late' });
      return { ok: true };
    });
    await using kit = await startTestWorker(broker, [late]);
    const attempt = kit.scheduler.attempt();
    await kit.scheduler.ring('analyzer', attempt);
    await until(() => kit.scheduler.reportsOf(attempt.taskId).length === 1, 'the report');
    expect(leftover).toThrow(expect.objectContaining({ code: 'STALE_ATTEMPT' }));
  });

  test('a pure executor has none: it may run twice', async () => {
    const pure = testExecutor(async (ctx) => ({ id: ctx.session('chat-1').id }), { pure: true });
    await using kit = await startTestWorker(broker, [pure]);
    const attempt = kit.scheduler.attempt();
    await kit.scheduler.ring('analyzer', attempt);
    await until(() => kit.scheduler.reportsOf(attempt.taskId).length === 1, 'the report');
    expect(kit.scheduler.reportsOf(attempt.taskId)).toMatchObject([
      { outcome: 'failed', error: { code: 'OUTPUT_CONTRACT' } },
    ]);
  });

  test('E4: without an id there is no session, and no default one', async () => {
    const careless = testExecutor(async (ctx) => ({ id: ctx.session(String(ctx.input['session'] ?? '')).id }));
    await using kit = await startTestWorker(broker, [careless]);
    const attempt = kit.scheduler.attempt();
    await kit.scheduler.ring('analyzer', attempt);
    await until(() => kit.scheduler.reportsOf(attempt.taskId).length === 1, 'the report');
    expect(kit.scheduler.reportsOf(attempt.taskId)).toMatchObject([
      {
        outcome: 'failed',
        error: { code: 'INVALID_INPUT', message: expect.stringContaining('there is no default one') },
      },
    ]);
  });
});
