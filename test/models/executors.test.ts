import type { Client } from '@cleanslate/client';
import type { TaskView } from '@cleanslate/contracts';
import { json, type ModelReply, refused, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { slate } from '../fixtures/slate.ts';
import { type ModelPlatform, startModelPlatform } from './platform.ts';

const GOOD = json({ severity: 'high risk', text: 'no cap on liability' });
/** By a word in the text that the executor asks about. */
const FAULTS: Readonly<Record<string, ModelReply>> = {
  good: GOOD,
  fenced: { content: `Here:\n\`\`\`json\n${GOOD.content}\n\`\`\`` },
  thinking: { content: `<think>{"severity":"LOW"}</think>${GOOD.content}` },
  broken: { content: '{"severity":' },
  twice: { content: `${GOOD.content} or {"severity":"LOW","text":"no"}` },
  enum: json({ severity: 'severe', text: 'x' }),
  cut: { content: '{"severity":"HIGH"', finishReason: 'length' },
  refuses: { content: null, refusal: 'I will not' },
  filtered: { content: '', finishReason: 'content_filter' },
  blank: { content: '' },
  stalls: { ...GOOD, chunkSize: 8, stallAfter: 3 },
  hangs: { broken: 'no-headers' },
  resets: { ...GOOD, chunkSize: 8, resetAfter: 3 },
  fails: refused(500, 'boom'),
  limited: refused(429, 'slow down', { headers: { 'retry-after': '3600' } }),
  down: refused(503, 'maintenance'),
  locked: refused(401, 'bad key'),
};

let at: ModelPlatform;
let client: Client;
beforeAll(async () => {
  // A long connection per fault: the breaker must not make one fault of another.
  at = await startModelPlatform(inject('postgresAdminUrl'), 1, {
    MODEL_IDLE_TIMEOUT_MS: '2000',
    MODEL_HEADERS_TIMEOUT_MS: '3000',
    SLOTS: '1',
  });
  client = await at.platform.client();
  at.server.reply(({ text }) => FAULTS[/FAULT-(\w+)/.exec(text)?.[1] ?? ''] ?? { status: 418 });
});
afterAll(() => at?.[Symbol.asyncDispose]());

const submit = async (fault: string) =>
  (await client.submit({ workflow: 'asking', input: { text: `The text says FAULT-${fault}.` } })).taskId;

const lastError = ({ error }: TaskView) =>
  error?.code === 'ATTEMPTS_EXHAUSTED' ? (error.details?.['last'] as typeof error) : error;

describe('an executor of a user’s workflow that asks a model through ctx', () => {
  test.each(['good', 'fenced', 'thinking'])(
    '%s: a right answer, and what it used stands with the task',
    async (fault) => {
      const task = await client.result(await submit(fault));
      expect(task.result).toMatchObject({ severity: 'HIGH', text: 'no cap on liability', provider: 'openai' });
      expect(task.usage).toMatchObject([{ model: 'simulated', requests: 1 }]);
      expect(task.usage?.[0]?.promptTokens).toBeGreaterThan(20);
    },
  );

  test.each([
    ['broken', 'MODEL_BAD_ANSWER', 2],
    ['twice', 'MODEL_BAD_ANSWER', 2],
    ['enum', 'MODEL_BAD_ANSWER', 2],
    ['cut', 'MODEL_TRUNCATED', 1],
    ['refuses', 'MODEL_REFUSED', 1],
    ['filtered', 'MODEL_REFUSED', 1],
    ['blank', 'MODEL_EMPTY_ANSWER', 2],
    ['stalls', 'MODEL_STALLED', 2],
    ['hangs', 'MODEL_TIMEOUT', 2],
    ['fails', 'MODEL_UNAVAILABLE', 2],
  ])('%s: the task fails with %s, and its %i requests are counted', async (fault, code, requests) => {
    const task = await client.result(await submit(fault));
    expect(task.state).toBe('failed');
    expect(lastError(task)?.code).toBe(code);
    expect(task.usage).toMatchObject([{ model: 'simulated', requests }]);
  });

  // One after the other: each leaves the breaker as it found it.
  test.each([
    ['limited', 'MODEL_RATE_LIMITED', 3_000_000],
    ['resets', 'MODEL_UNAVAILABLE', 1_000],
    ['down', 'MODEL_UNAVAILABLE', 1_000],
    ['locked', 'CONFIGURATION', 1_000],
  ])(
    '%s: handed back with %s until it may go again; no attempt is spent, and the slot is free',
    async (fault, code, atLeastMs) => {
      const askedAt = Date.now();
      const taskId = await submit(fault);
      const step = await waitFor('handed back', async () => {
        const [each] = (await client.task(taskId)).steps;
        return each?.phase === 'backing_off' ? each : undefined;
      });
      expect(step).toMatchObject({ spent: 0, error: { code, disposition: 'pause' } });
      expect(Date.parse(step.dueAt ?? '') - askedAt).toBeGreaterThan(atLeastMs);
      await client.cancel(taskId);
      expect((await client.result(await submit('good'))).state).toBe('completed');
    },
  );

  test('slate task show says what a task used, for people and machines', async () => {
    const taskId = await submit('enum');
    await client.result(taskId);
    const shown = await slate(at.platform, 'task', 'show', taskId, '--tenant', 'acme');
    expect(shown.stdout).toMatch(/model +simulated: 2 requests, \d+ \+ \d+ tokens, cost 0\.0\d+/);
    const machine = JSON.parse((await slate(at.platform, 'task', 'show', taskId, '--tenant', 'acme', '--json')).stdout);
    expect(machine.usage).toEqual([
      {
        model: 'simulated',
        requests: 2,
        promptTokens: expect.any(Number),
        completionTokens: expect.any(Number),
        cost: expect.any(Number),
      },
    ]);
    // What a step's report counts is what validation budgets are kept by.
    const [row] = await at.platform.database.sql(
      'SELECT tokens FROM ledger.steps s JOIN ledger.tasks USING (task_seq) WHERE task_id = $1',
      [taskId],
    );
    expect(Number(row?.['tokens'])).toBe(machine.usage[0].promptTokens + machine.usage[0].completionTokens);
  });

  test('without a model the rule answers, and the result says so', async () => {
    await at.platform.service('analyzer').kill('SIGTERM');
    const offline = await at.platform.start(
      'analyzer',
      {},
      new URL('../fixtures/asking-worker.ts', import.meta.url).pathname,
    );
    const task = await client.result(await submit('good'));
    expect(task.result).toMatchObject({
      provider: 'offline',
      severity: 'LOW',
      text: expect.stringContaining('by rule'),
    });
    expect(task.usage).toBeUndefined();
    await offline.kill('SIGTERM');
  });
});
