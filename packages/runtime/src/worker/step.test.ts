import { createHash } from 'node:crypto';
import { startTestBroker, type TestBroker, until } from '@cleanslate/bus/testing';
import { AppError, type Candidate, type DocumentRef, type ObjectRef } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineExecutor } from '../executor/executor.ts';
import { sleep, startTestWorker, testExecutor } from './test-worker.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

const candidate: Candidate = {
  statement: 'Payment is due within 30 days.',
  assertion: null,
  knowledgeType: 'clause',
  sourceType: 'model_inference',
  sourceRef: 'test',
  confidence: 0.5,
  importance: 0.5,
  derivedFrom: [],
  tags: [],
};

async function proposed(): Promise<number> {
  const info = await broker.admin.raw.request('$JS.API.STREAM.INFO.BLACKBOARD', '', { timeout: 30_000 });
  return info.json<{ state: { messages: number } }>().state.messages;
}

describe('what an executor throws', () => {
  const cases: [string, () => Promise<never>, object][] = [
    [
      'an error, synchronously',
      () => {
        throw new Error('boom');
      },
      { code: 'EXECUTOR_FAILED', disposition: 'retryable', message: 'boom' },
    ],
    [
      'an error, asynchronously',
      async () => {
        throw new Error('late boom');
      },
      { code: 'EXECUTOR_FAILED', message: 'late boom' },
    ],
    [
      'an AppError with its own code',
      async () => {
        throw new AppError('NO_EVIDENCE', 'none', { disposition: 'terminal', details: { at: 1 } });
      },
      { code: 'NO_EVIDENCE', disposition: 'terminal', details: { at: 1 } },
    ],
    [
      'a rate limit with its wait',
      async () => {
        throw new AppError('RATE_LIMITED', 'slow', { retryAfterMs: 1234.5 });
      },
      { retryAfterMs: 1235 },
    ],
    [
      'nothing',
      () => Promise.reject(undefined),
      { code: 'EXECUTOR_FAILED', message: 'undefined was thrown, not an error' },
    ],
    [
      'what `fetch` throws where nobody listens',
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })),
      { message: 'fetch failed: connect ECONNREFUSED' },
    ],
    [
      'an object whose getters throw',
      () =>
        Promise.reject(
          new Proxy(
            {},
            {
              get: () => {
                throw new Error('hostile');
              },
            },
          ),
        ),
      { code: 'EXECUTOR_FAILED' },
    ],
    [
      'a proxy that was revoked',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return Promise.reject(proxy);
      },
      { code: 'EXECUTOR_FAILED' },
    ],
    [
      'circular details',
      async () => {
        const loop: Record<string, unknown> = {};
        loop['self'] = loop;
        throw new AppError('X_Y', 'm', { details: loop });
      },
      { code: 'X_Y', details: { note: 'details that are not JSON were dropped' } },
    ],
    [
      'a 5 MB message with a key and NUL',
      async () => {
        throw new Error(`\0sk-abcdefghijklmnopqrstuvwxyz ${'x'.repeat(5_000_000)}`);
      },
      { message: expect.stringMatching(/^\ufffd\[redacted\] x{100}/) },
    ],
  ];
  test.each(cases)('%s: one failed report, the process and other steps go on', async (_, run, expected) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const failing = testExecutor(async ({ input }) => (input['fail'] === true ? run() : { ok: true }));
    await using kit = await startTestWorker(broker, [failing]);
    const { scheduler } = kit;
    const [bad, good] = [scheduler.attempt(), scheduler.attempt()];
    await scheduler.ring('analyzer', bad, { input: { fail: true } });
    await scheduler.ring('analyzer', good);
    await until(() => scheduler.reports.length === 2, 'both reports');
    const [report] = scheduler.reportsOf(bad.taskId);
    expect(report).toMatchObject({ outcome: 'failed', error: expected });
    if (report?.outcome === 'failed') expect(report.error.message.length).toBeLessThan(4_200);
    expect(scheduler.reportsOf(good.taskId)).toMatchObject([{ outcome: 'succeeded' }]);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

describe('outputs', () => {
  test('2 MB and just over the inline limit travel as a reference, after one run', async () => {
    let runs = 0;
    const large = testExecutor(async ({ input }) => ({ text: 'x'.repeat(Number(input['size'])), runs: ++runs }));
    await using kit = await startTestWorker(broker, [large]);
    const { scheduler } = kit;
    const sizes = [2_000_000, 1_048_476, 262_144, 100_000];
    const attempts = sizes.map((size) => [size, scheduler.attempt()] as const);
    for (const [size, attempt] of attempts) await scheduler.ring('analyzer', attempt, { input: { size } });
    await until(() => scheduler.reports.length === 4, 'all reports');
    expect(runs).toBe(4);
    for (const [size, attempt] of attempts) {
      const [report] = scheduler.reportsOf(attempt.taskId);
      if (report?.outcome !== 'succeeded') throw new Error(JSON.stringify(report));
      if (size === 100_000) expect(String(report.output['text']).length).toBe(size);
      else {
        const { $object, bytes } = report.output as ObjectRef;
        const stored = JSON.parse(new TextDecoder().decode(scheduler.objects.get($object)));
        expect([stored.text.length, bytes]).toEqual([size, scheduler.objects.get($object)?.length]);
      }
    }
  });

  test('too large even for an object: RESULT_TOO_LARGE after one run, the connection stays up', async () => {
    let runs = 0;
    const huge = testExecutor(async ({ input }) => ({ text: 'x'.repeat(Number(input['size'] ?? 1)), runs: ++runs }));
    await using kit = await startTestWorker(broker, [huge]);
    const { scheduler } = kit;
    const attempt = scheduler.attempt();
    await scheduler.ring('analyzer', attempt, { input: { size: 7_000_000 } });
    await until(() => scheduler.reports.length === 1, 'the report');
    expect(scheduler.reportsOf(attempt.taskId)).toMatchObject([
      { outcome: 'failed', error: { code: 'RESULT_TOO_LARGE', disposition: 'terminal' } },
    ]);
    expect(runs).toBe(1);
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.reports.length === 2, 'the next one');
  });

  test('an unknown key at any depth, a forbidden name, a NUL and __proto__ break the contract', async () => {
    const output = z.strictObject({
      findings: z.array(z.strictObject({ note: z.string() })),
      notes: z.record(z.string(), z.string()),
    });
    type Output = z.infer<typeof output>;
    const outputs: unknown[] = [
      { findings: [{ note: 'a', extra: 1 }], notes: {} },
      { findings: [], notes: { reasoning: 'because' } },
      { findings: [{ note: 'a\0b' }], notes: {} },
      { findings: [], notes: JSON.parse('{"__proto__":"x"}') },
      { findings: [] },
      undefined,
    ];
    const leaking = defineExecutor({
      role: 'analyzer',
      name: 'test/step',
      input: z.strictObject({ n: z.number() }),
      output,
      run: ({ input }) => outputs[input.n] as Output,
    });
    await using kit = await startTestWorker(broker, [leaking]);
    const { scheduler } = kit;
    for (let n = 0; n < outputs.length; n++) await scheduler.ring('analyzer', scheduler.attempt(), { input: { n } });
    await until(() => scheduler.reports.length === outputs.length, 'all');
    for (const { data } of scheduler.reports) {
      if (data.outcome === 'succeeded') expect(data.output).toEqual({ findings: [], notes: {} });
      else expect(data).toMatchObject({ error: { code: 'OUTPUT_CONTRACT', disposition: 'terminal' } });
    }
    const failed = scheduler.reports.filter(({ data }) => data.outcome === 'failed');
    expect(failed.length).toBeGreaterThanOrEqual(outputs.length - 1);
  });

  test('an input that breaks the contract fails for good, with the bytes', async () => {
    const strict = defineExecutor({
      role: 'analyzer',
      name: 'test/step',
      input: z.strictObject({ n: z.number() }),
      output: z.strictObject({}),
      run: () => ({}),
    });
    await using kit = await startTestWorker(broker, [strict]);
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt(), { input: { n: 1, history: [] } });
    await until(() => kit.scheduler.reports.length === 1, 'the report');
    expect(kit.scheduler.reports[0]?.data).toMatchObject({
      outcome: 'failed',
      error: { code: 'SCHEMA_MISMATCH', disposition: 'terminal' },
    });
    expect(kit.scheduler.reports[0]?.data).toHaveProperty('raw');
  });
});

describe('the context', () => {
  test('documents are checked by their hash, references in the input are resolved', async () => {
    const reading = testExecutor(async ({ documents, input }) => ({
      text: await documents.read(input['document'] as DocumentRef),
      inner: (input['big'] as { value: number }).value,
    }));
    await using kit = await startTestWorker(broker, [reading]);
    const { scheduler } = kit;
    const put = (text: string, sha256 = createHash('sha256').update(text).digest('hex')) => {
      scheduler.objects.set(sha256, new TextEncoder().encode(text));
      return sha256;
    };
    const ref = (sha256: string) => ({ name: 'a.txt', mediaType: 'text/plain', sha256, bytes: 9 });
    const big = { $object: put('{"value":7}'), bytes: 11 };
    const [good, forged, absent] = [scheduler.attempt(), scheduler.attempt(), scheduler.attempt()];
    await scheduler.ring('analyzer', good, { input: { document: ref(put('\ufeffgrüße 合同')), big } });
    await scheduler.ring('analyzer', forged, { input: { document: ref(put('forged', 'a'.repeat(64))), big } });
    await scheduler.ring('analyzer', absent, { input: { document: ref('b'.repeat(64)), big } });
    await until(() => scheduler.reports.length === 3, 'all');
    expect(scheduler.reportsOf(good.taskId)).toMatchObject([{ output: { text: '\ufeffgrüße 合同', inner: 7 } }]);
    expect(scheduler.reportsOf(forged.taskId)).toMatchObject([{ outcome: 'failed', error: { code: 'INTERNAL' } }]);
    expect(scheduler.reportsOf(absent.taskId)).toMatchObject([{ outcome: 'failed', error: { code: 'NOT_FOUND' } }]);
  });

  test('candidates are stored before the report names them, under ids that follow from the claim', async () => {
    const proposing = testExecutor(async ({ blackboard }) => {
      void blackboard.propose(candidate);
      return { id: await blackboard.propose({ ...candidate, statement: 'Another.' }) };
    });
    await using kit = await startTestWorker(broker, [proposing]);
    const { scheduler } = kit;
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.reports.length === 1, 'the report');
    const report = scheduler.reports[0]?.data;
    if (report?.outcome !== 'succeeded') throw new Error('failed');
    expect(report.candidates).toHaveLength(2);
    expect(report.candidates[1]).toBe(report.output['id']);
    expect(await proposed()).toBe(2);
  });

  test('an attempt of a tenant that was removed and added again: what it says is not taken for what its namesake said', async () => {
    const proposing = testExecutor(async ({ blackboard }) => ({ id: await blackboard.propose(candidate) }));
    await using kit = await startTestWorker(broker, [proposing]);
    const { scheduler } = kit;
    const attempt = scheduler.attempt();
    const before = await proposed();
    await scheduler.ring('analyzer', attempt);
    await until(() => scheduler.heartbeats.some(({ reported }) => reported.length === 1), 'reported');
    await until(() => scheduler.heartbeats.at(-1)?.reported.length === 0, 'settled');
    await scheduler.ring('analyzer', attempt, { ring: 2 });
    await until(() => scheduler.reports.length === 2, 'the second report');
    expect((await proposed()) - before).toBe(2);
  });

  test.each(['a\0b', `half ${String.fromCharCode(0xd800)}`])(
    '%j is proposed by a step that fails for it: no letter says later what was lost',
    async (statement) => {
      const careless = testExecutor(async ({ blackboard }) => ({
        id: await blackboard.propose({ ...candidate, statement }),
      }));
      await using kit = await startTestWorker(broker, [careless]);
      await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
      await until(() => kit.scheduler.reports.length === 1, 'the report');
      const error = { code: 'OUTPUT_CONTRACT', message: /^candidate holds an? (NUL|unpaired)/ };
      expect(kit.scheduler.reports[0]?.data).toMatchObject({ outcome: 'failed', error });
    },
  );

  test('a forgotten bad proposal fails the step instead of ending the process', async () => {
    const careless = testExecutor(async ({ blackboard }) => {
      void blackboard.propose({ ...candidate, confidence: 7 });
      return {};
    });
    await using kit = await startTestWorker(broker, [careless]);
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
    await until(() => kit.scheduler.reports.length === 1, 'the report');
    expect(kit.scheduler.reports[0]?.data).toMatchObject({ outcome: 'failed', error: { code: 'OUTPUT_CONTRACT' } });
  });

  test('fence() passes while the claim holds and throws STALE_ATTEMPT when it does not: nothing is reported', async () => {
    const outcomes: string[] = [];
    const fenced = testExecutor(async ({ fence, input }) => {
      await fence();
      outcomes.push('first');
      if (input['lose'] !== true) return {};
      lost = true;
      await fence().catch((error: AppError) => outcomes.push(error.code));
      return { late: true };
    });
    let lost = false;
    await using kit = await startTestWorker(broker, [fenced]);
    const { scheduler } = kit;
    const granting = scheduler.answer;
    scheduler.answer = (claim) => (lost ? 'lost' : granting(claim));
    await scheduler.ring('analyzer', scheduler.attempt());
    await until(() => scheduler.reports.length === 1, 'the first report');
    await scheduler.ring('analyzer', scheduler.attempt(), { input: { lose: true } });
    await until(() => outcomes.length === 3, 'both fences asked');
    await sleep(200);
    expect([outcomes, scheduler.reports.length]).toEqual([['first', 'first', 'STALE_ATTEMPT'], 1]);
  });

  test('the input is frozen at every depth', async () => {
    const writing = testExecutor(async ({ input }) => {
      (input['nested'] as { list: number[] }).list.push(2);
      return {};
    });
    await using kit = await startTestWorker(broker, [writing]);
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt(), { input: { nested: { list: [1] } } });
    await until(() => kit.scheduler.reports.length === 1, 'the report');
    expect(kit.scheduler.reports[0]?.data).toMatchObject({ outcome: 'failed', error: { message: /not extensible/ } });
  });

  test('E5: what is put out is a copy: an executor that goes on changing it changes nothing', async () => {
    const kept = { list: [{ n: 1 }] };
    const mutating = defineExecutor({
      role: 'analyzer',
      name: 'test/step',
      input: z.record(z.string(), z.unknown()),
      output: z.strictObject({ list: z.array(z.strictObject({ n: z.number() })) }),
      run: () => {
        setTimeout(() => kept.list.push({ n: 2 }));
        for (let n = 0; n < 50; n++) setTimeout(() => Object.assign(kept.list[0] ?? {}, { n }), n / 5);
        return kept;
      },
    });
    await using kit = await startTestWorker(broker, [mutating]);
    await kit.scheduler.ring('analyzer', kit.scheduler.attempt());
    await until(() => kit.scheduler.reports.length === 1, 'the report');
    expect(kit.scheduler.reports[0]?.data).toMatchObject({ outcome: 'succeeded', output: { list: [{ n: 1 }] } });
    await until(() => kept.list.length === 2 && kept.list[0]?.n === 49, 'all the changes made');
  });

  test('E3: 50 concurrent runs of 10 tenants: no canary of one in what another puts out, proposes or logs', async () => {
    const canaries = testExecutor(async ({ input, tenantId, taskId, logger, progress, documents }) => {
      const own = String(input['canary']);
      progress(own);
      await sleep(Math.random() * 30);
      const text = await documents.read(input['document'] as DocumentRef);
      logger.info('half way');
      await sleep(Math.random() * 30);
      return { own, text, where: `${tenantId}/${taskId}` };
    });
    await using kit = await startTestWorker(broker, [canaries], { slots: 50 });
    const { scheduler } = kit;
    const runs = Array.from({ length: 50 }, (_, i) => {
      const canary = crypto.randomUUID();
      const text = `document of ${canary}`;
      const sha256 = createHash('sha256').update(text).digest('hex');
      scheduler.objects.set(sha256, new TextEncoder().encode(text));
      const document = { name: 'a', mediaType: 'text/plain', sha256, bytes: text.length };
      return { canary, text, document, attempt: scheduler.attempt({ tenantId: `tenant-${i % 10}` }) };
    });
    await Promise.all(
      runs.map(({ attempt, canary, document }) => scheduler.ring('analyzer', attempt, { input: { canary, document } })),
    );
    await until(() => scheduler.reports.length === 50, 'all');
    for (const { attempt, canary, text } of runs) {
      const { tenantId, taskId } = attempt;
      const [report] = scheduler.reportsOf(taskId);
      expect(report).toMatchObject({ output: { own: canary, text, where: `${tenantId}/${taskId}` } });
      const others = runs.filter((run) => run.canary !== canary).map((run) => run.canary);
      expect(others.some((other) => JSON.stringify(report).includes(other))).toBe(false);
      const lines = kit.logs.filter((line) => line['task'] === taskId);
      expect(lines.map((line) => line['tenant'])).toEqual([tenantId, tenantId]);
    }
  });
});
