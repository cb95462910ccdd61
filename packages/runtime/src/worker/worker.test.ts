import { startTestBroker, type TestBroker, until } from '@cleanslate/bus/testing';
import { HEADERS, subjects, toAttemptHeaders } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toClaimRef } from './fake-scheduler.ts';
import { sleep, startTestWorker, testExecutor } from './test-worker.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

const echo = testExecutor(async ({ input, round, pin }) => ({
  echo: String(input['say']),
  round,
  revision: pin.revision,
}));

describe('one step', () => {
  test('is claimed, run with what the command says, reported under its fence, and settled', async () => {
    await using kit = await startTestWorker(broker, [echo]);
    const { scheduler } = kit;
    const attempt = scheduler.attempt({ stepId: 'analyze#2', attempt: 3 });
    await scheduler.ring('analyzer', attempt, { input: { say: 'hi' }, round: 2 });
    await until(() => scheduler.reports.length === 1, 'the report');
    const [claim] = scheduler.claims;
    expect(claim).toMatchObject(attempt);
    expect(claim?.claimId).toMatch(new RegExp(`^${kit.worker.identity.workerId}:`));
    expect(scheduler.reports[0]).toMatchObject({
      envelope: {
        tenantid: 'acme',
        taskid: attempt.taskId,
        stepid: 'analyze#2',
        attempt: 3,
        claimid: claim?.claimId,
        epoch: 1,
      },
      data: { outcome: 'succeeded', output: { echo: 'hi', round: 2, revision: 1 }, candidates: [] },
    });
    await until(() => scheduler.heartbeats.some((beat) => beat.reported.length === 1), 'reported in a heartbeat');
    await until(() => scheduler.heartbeats.at(-1)?.reported.length === 0, 'settled and forgotten');
    const lines = kit.logs.filter((line) => line['msg'] === 'step');
    expect(lines).toEqual([
      expect.objectContaining({
        task: attempt.taskId,
        step: 'analyze#2',
        attempt: 3,
        tenant: 'acme',
        outcome: 'succeeded',
      }),
    ]);
    expect(JSON.stringify(kit.logs)).not.toContain('"hi"');
  });

  test('heartbeats tell slots at once and every second, and carry running claims', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = testExecutor(async () => {
      await gate.promise;
      return {};
    });
    await using kit = await startTestWorker(broker, [waiting], { slots: 3 });
    const { scheduler } = kit;
    await until(() => scheduler.heartbeats.length > 0, 'the first heartbeat');
    expect(scheduler.heartbeats[0]).toMatchObject({ slots: 3, free: 3, running: [], role: 'analyzer' });
    for (let i = 0; i < 2; i++) await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.heartbeats.at(-1)?.running.length === 2, 'both named');
    expect(scheduler.heartbeats.at(-1)).toMatchObject({ slots: 3, free: 1 });
    gate.resolve();
  });
});

describe('claims', () => {
  test.each(['lost', 'over'] as const)('%s: the doorbell is acked and nothing runs', async (answer) => {
    let runs = 0;
    const counting = testExecutor(async () => ({ runs: ++runs }));
    await using kit = await startTestWorker(broker, [counting], { answer: () => answer });
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
    await until(() => kit.scheduler.claims.length === 1, 'asked');
    await sleep(300);
    expect([runs, kit.scheduler.claims.length, kit.scheduler.reports.length]).toEqual([0, 1, 0]);
    expect(await pendingCommands()).toBe(0);
  });

  test('busy is asked again with the same id, then granted: one run', async () => {
    let runs = 0;
    const counting = testExecutor(async () => ({ runs: ++runs }));
    await using kit = await startTestWorker(broker, [counting]);
    const { scheduler } = kit;
    const granting = scheduler.answer;
    scheduler.answer = (fence) => (scheduler.claims.length < 3 ? 'busy' : granting(fence));
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.reports.length === 1, 'the report');
    expect(runs).toBe(1);
    expect(scheduler.claims.length).toBe(3);
    expect(new Set(scheduler.claims.map((claim) => claim.claimId)).size).toBe(1);
  });

  test('without an answer four times: nak, nothing runs, pulling stops until the scheduler answers', async () => {
    let runs = 0;
    const counting = testExecutor(async () => ({ runs: ++runs }));
    await using kit = await startTestWorker(broker, [counting]);
    const { scheduler } = kit;
    const granting = scheduler.answer;
    scheduler.answer = () => 'busy';
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.claims.length === 4, 'asked four times');
    await sleep(200);
    expect(runs).toBe(0);
    scheduler.answer = granting;
    await until(() => scheduler.reports.length === 1, 'run after the delayed nak');
    expect(runs).toBe(1);
  });

  test('claims wanted in one tick travel in one request', async () => {
    await using kit = await startTestWorker(broker, [echo], { slots: 50 });
    const { scheduler } = kit;
    let requests = 0;
    const granting = scheduler.answer;
    let last = -1;
    scheduler.answer = (fence) => {
      if (scheduler.claims.length !== last) requests++;
      last = scheduler.claims.length;
      return granting(fence);
    };
    await Promise.all(Array.from({ length: 50 }, () => scheduler.ring('analyzer', scheduler.attempt())));
    await until(() => scheduler.reports.length === 50, 'all reported');
    expect(requests).toBeLessThan(40);
  });

  test('the same doorbell twice in one process, at once and while it runs: one claim, one run', async () => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const waiting = testExecutor(async () => {
      runs++;
      await gate.promise;
      return {};
    });
    await using kit = await startTestWorker(broker, [waiting]);
    const { scheduler } = kit;
    const attempt = scheduler.attempt();
    await Promise.all([1, 2].map((ring) => scheduler.ring('analyzer', attempt, { ring })));
    await until(() => runs === 1, 'running');
    await scheduler.ring('analyzer', attempt, { ring: 3 });
    await until(async () => (await pendingCommands()) === 0, 'all doorbells acked');
    gate.resolve();
    await until(() => scheduler.reports.length === 1, 'the report');
    await sleep(200);
    expect([runs, scheduler.claims.length, scheduler.reports.length]).toEqual([1, 1, 1]);
  });

  test('never more runs at once than slots', async () => {
    let running = 0;
    let most = 0;
    const slow = testExecutor(async () => {
      most = Math.max(most, ++running);
      await sleep(5);
      running--;
      return {};
    });
    await using kit = await startTestWorker(broker, [slow], { slots: 6 });
    const { scheduler } = kit;
    await Promise.all(Array.from({ length: 200 }, () => scheduler.ring('analyzer', scheduler.attempt())));
    await until(() => scheduler.reports.length === 200, 'all reported');
    expect(most).toBe(6);
  });

  test('a handler longer than the ack wait runs once: the doorbell is gone with the claim', async () => {
    let runs = 0;
    const slow = testExecutor(async () => {
      runs++;
      await sleep(4_000);
      return {};
    });
    await setAckWait(1_000);
    await using kit = await startTestWorker(broker, [slow]);
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
    await until(() => kit.scheduler.reports.length === 1, 'the report');
    expect([runs, kit.scheduler.claims.length]).toEqual([1, 1]);
    await setAckWait(5_000);
  });
});

describe('commands that can not be run', () => {
  const bodies: [string, Uint8Array, string][] = [
    ['broken JSON', new TextEncoder().encode('{"p":'), 'UNPARSEABLE'],
    ['no body', new Uint8Array(), 'UNPARSEABLE'],
    ['invalid UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 'UNPARSEABLE'],
    ['JSON of the wrong shape', new TextEncoder().encode('{"a":1}'), 'SCHEMA_MISMATCH'],
    ['another tenant', new TextEncoder().encode(command('globex', 'v1')), 'TENANT_MISMATCH'],
  ];
  test.each(bodies)('%s: the attempt fails for good with the bytes; the next one runs', async (_, body, code) => {
    await using kit = await startTestWorker(broker, [echo]);
    const { scheduler } = kit;
    const [bad, good] = [scheduler.attempt(), scheduler.attempt()];
    await scheduler.ring('analyzer', bad, { body });
    await scheduler.ring('analyzer', good, { input: { say: 'good' } });
    await until(() => scheduler.reports.length === 2, 'both reports');
    expect(scheduler.reportsOf(bad.taskId)).toEqual([
      {
        outcome: 'failed',
        error: expect.objectContaining({ code, disposition: 'terminal' }),
        raw: Buffer.from(body).toString('base64'),
      },
    ]);
    expect(scheduler.reportsOf(good.taskId)).toMatchObject([{ outcome: 'succeeded' }]);
    expect(scheduler.letters).toEqual([]);
  });

  test('a newer version and an unknown executor are handed back with a due time', async () => {
    await using kit = await startTestWorker(broker, [echo]);
    const { scheduler } = kit;
    const [newer, unknown] = [scheduler.attempt(), scheduler.attempt()];
    await scheduler.ring('analyzer', newer, { body: new TextEncoder().encode(command('acme', 'v9')) });
    await scheduler.ring('analyzer', unknown, { executor: 'test/unheard-of' });
    await until(() => scheduler.reports.length === 2, 'both');
    expect(scheduler.reportsOf(newer.taskId)).toEqual([
      { outcome: 'released', reason: 'UNSUPPORTED_VERSION', dueInMs: 10_000 },
    ]);
    expect(scheduler.reportsOf(unknown.taskId)).toEqual([
      { outcome: 'released', reason: 'UNKNOWN_EXECUTOR', dueInMs: 10_000 },
    ]);
  });

  test('headers that name no attempt, or another tenant: one dead letter, no claim', async () => {
    await using kit = await startTestWorker(broker, [echo]);
    const { scheduler } = kit;
    const body = new TextEncoder().encode('{"x":1}');
    await scheduler.publishRaw('cmd.work.analyzer.acme.t1', body, { traceparent: '00-1' });
    const foreign = toAttemptHeaders(scheduler.attempt({ tenantId: 'globex', taskId: 't2' }), 1);
    await scheduler.publishRaw('cmd.work.analyzer.acme.t2', body, foreign);
    await until(() => scheduler.letters.length === 2, 'two letters');
    await sleep(200);
    const codes = scheduler.letters.map((letter) => letter.error.code).sort();
    expect([codes, scheduler.letters.length, scheduler.claims.length]).toEqual([
      ['SCHEMA_MISMATCH', 'TENANT_MISMATCH'],
      2,
      0,
    ]);
    expect(scheduler.letters.find((letter) => letter.subject.endsWith('t1'))).toMatchObject({
      stream: 'COMMANDS',
      consumer: 'work-analyzer',
      body: Buffer.from(body).toString('base64'),
      deliveries: 1,
      headers: { traceparent: ['00-1'] },
    });
    expect(scheduler.letters.find((letter) => letter.subject.endsWith('t2'))?.headers).toHaveProperty(
      [HEADERS.tenant],
      ['globex'],
    );
  });
});

describe('stopping a run', () => {
  const stubborn = testExecutor(
    ({ signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      ),
  );
  const deaf = testExecutor(() => new Promise(() => undefined));

  test('an abort message and a heartbeat that says lost or cancelled: the signal fires, nothing is reported', async () => {
    const reasons: string[] = [];
    const noting = testExecutor(
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push((signal.reason as { code: string }).code);
            reject(signal.reason as Error);
          }),
        ),
    );
    await using kit = await startTestWorker(broker, [noting], { slots: 3 });
    const { scheduler, worker } = kit;
    for (let i = 0; i < 3; i++) await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.heartbeats.at(-1)?.running.length === 3, 'running');
    const [first, second, third] = scheduler.heartbeats.at(-1)?.running ?? [];
    if (!first || !second || !third) throw new Error('no claims');
    const abort = { specversion: '1.0', id: 'a', source: '/t', type: 'claim.abort.v1', time: new Date().toISOString() };
    const message = {
      ...abort,
      datacontenttype: 'application/json',
      tenantid: 'acme',
      data: { ...first, reason: 'cancelled' },
    };
    const bus = await broker.connect({ kind: 'scheduler' });
    const sentAt = performance.now();
    bus.publish(
      subjects.abort('analyzer', worker.identity.workerId),
      new TextEncoder().encode(JSON.stringify(message)),
    );
    await until(() => reasons.length === 1, 'the first stopped');
    expect(performance.now() - sentAt).toBeLessThan(10_000);
    scheduler.onHeartbeat = () => ({ lost: [toClaimRef(second)], cancelled: [toClaimRef(third)] });
    await until(() => reasons.length === 3, 'all stopped');
    expect(reasons.sort()).toEqual(['CANCELLED', 'CANCELLED', 'STALE_ATTEMPT']);
    await until(() => scheduler.heartbeats.at(-1)?.running.length === 0, 'forgotten');
    expect(scheduler.reports).toEqual([]);
    // Garbage on the abort subject harms nothing.
    bus.publish(subjects.abort('analyzer', worker.identity.workerId), new TextEncoder().encode('{'));
    await until(() => scheduler.heartbeats.at(-1)?.free === 3, 'slots free');
  });

  test.each([
    ['that listens', stubborn],
    ['that never returns', deaf],
  ])('the attempt timeout ends an executor %s', async (_, executor) => {
    await using kit = await startTestWorker(broker, [executor], { remainingMs: 300 });
    const { scheduler } = kit;
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.reports.length === 1, 'the report');
    expect(scheduler.reports[0]?.data).toMatchObject({
      outcome: 'failed',
      error: { code: 'ATTEMPT_TIMEOUT', disposition: 'retryable' },
    });
    await until(() => scheduler.heartbeats.at(-1)?.free === 4, 'the slot is free');
  });

  test("the executor's own timeout is the sooner one", async () => {
    const impatient = testExecutor(() => new Promise(() => undefined), { timeoutMs: 200 });
    await using kit = await startTestWorker(broker, [impatient]);
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
    await until(() => kit.scheduler.reports.length === 1, 'the report');
    expect(kit.scheduler.reports[0]?.data).toMatchObject({ outcome: 'failed', error: { code: 'ATTEMPT_TIMEOUT' } });
  });
});

function command(tenant: string, version: string): string {
  return JSON.stringify({
    specversion: '1.0',
    id: 'x',
    source: '/t',
    type: `step.run.${version}`,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    tenantid: tenant,
    data: {
      workflow: 'test',
      executor: 'test/step',
      input: {},
      round: 1,
      idempotencyKey: 'k',
      pin: { validAt: '2026-01-01T00:00:00.000Z', revision: 1 },
    },
  });
}

async function pendingCommands(): Promise<number> {
  const reply = await broker.admin.raw.request('$JS.API.STREAM.INFO.COMMANDS', '', { timeout: 30_000 });
  return reply.json<{ state: { messages: number } }>().state.messages;
}

async function setAckWait(ms: number): Promise<void> {
  const subject = '$JS.API.CONSUMER.INFO.COMMANDS.work-analyzer';
  const { config } = (await broker.admin.raw.request(subject, '', { timeout: 30_000 })).json<{
    config: Record<string, unknown>;
  }>();
  const update = { stream_name: 'COMMANDS', action: 'update', config: { ...config, ack_wait: ms * 1_000_000 } };
  const create = '$JS.API.CONSUMER.CREATE.COMMANDS.work-analyzer.cmd.work.analyzer.*.*';
  const { error } = (await broker.admin.raw.request(create, JSON.stringify(update), { timeout: 30_000 })).json<{
    error?: object;
  }>();
  if (error) throw new Error(JSON.stringify(error));
}
