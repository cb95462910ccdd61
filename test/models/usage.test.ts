import { AppError } from '@cleanslate/contracts';
import { type ModelBudget, type ModelUsage, NO_USAGE } from '@cleanslate/llm';
import { json, type ModelReply, refused } from '@cleanslate/testing';
import { describe, expect, test } from 'vitest';
import { GOOD, quiet, request, startModel } from './ask.ts';

/**
 * Grants everything, and keeps what it is told was used; `lose` breaks off what runs, as a lease
 * does that could not be renewed.
 */
function openBudget() {
  const settled: ModelUsage[] = [];
  const lost = new AbortController();
  const budget: ModelBudget = {
    reserve: async () => ({ signal: lost.signal, settle: async (usage) => void settled.push(usage) }),
  };
  const lose = () => lost.abort(new AppError('MODEL_UNAVAILABLE', 'the right to this call was lost'));
  return { budget, settled, lose };
}

const LIMITS = { LLM_MAX_RETRIES: '0', MODEL_MAX_OUTPUT_TOKENS: '16', MODEL_INPUT_PRICE: '1' };
const STALLED: ModelReply = { ...json(GOOD), stallAfter: 2 };
const PROMPT_AT_LEAST = 50;

describe('what a request is booked with that ended before its server said what it used', () => {
  test.each<[string, ModelReply]>([
    ['reset in the stream', { ...json(GOOD), resetAfter: 2, chunkDelayMs: 20 }],
    ['whose answer is longer than any', { content: 'x'.repeat(200_000), chunkSize: 20_000 }],
  ])('one %s: its prompt, which was read', async (_, reply) => {
    const { budget, settled } = openBudget();
    await using at = await startModel(LIMITS, { budget });
    at.server.reply([reply]);
    await expect(at.model.ask(request, quiet())).rejects.toThrow(AppError);
    expect(settled).toMatchObject([{ requests: 1, cost: expect.any(Number) }]);
    expect(settled[0]?.promptTokens).toBeGreaterThan(PROMPT_AT_LEAST);
    expect(at.calls.map(({ usage }) => usage)).toEqual(settled);
  });

  test('one whose server took it and sent no headers in time: the same', async () => {
    const { budget, settled } = openBudget();
    await using at = await startModel({ ...LIMITS, MODEL_HEADERS_TIMEOUT_MS: '100' }, { budget });
    at.server.reply([{ broken: 'no-headers' }]);
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_TIMEOUT' });
    expect(settled[0]?.promptTokens).toBeGreaterThan(PROMPT_AT_LEAST);
  });

  test('one broken off because its lease was lost, or its step cancelled: the same', async () => {
    const { budget, settled, lose } = openBudget();
    await using at = await startModel(LIMITS, { budget });
    at.server.reply([STALLED]);
    const stop = new AbortController();
    const cancelled = at.model.ask(request, { signal: stop.signal });
    await expect.poll(() => at.server.requests, { timeout: 20_000 }).toHaveLength(1);
    stop.abort(new AppError('CANCELLED', 'by a person'));
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    const lost = at.model.ask(request, quiet());
    await expect.poll(() => at.server.requests, { timeout: 20_000 }).toHaveLength(2);
    lose();
    await expect(lost).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(settled.map(({ promptTokens }) => promptTokens > PROMPT_AT_LEAST)).toEqual([true, true]);
  });

  test('what had come of its answer is counted, thinking included', async () => {
    const { budget, settled } = openBudget();
    await using at = await startModel({ ...LIMITS, MODEL_IDLE_TIMEOUT_MS: '100' }, { budget });
    at.server.reply([{ reasoning: 'well '.repeat(100), chunkSize: 250, stallAfter: 2 }]);
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_STALLED' });
    expect(settled[0]?.completionTokens).toBeGreaterThan(40);
  });

  test.each<[string, ModelReply]>([
    ['429', refused(429, 'slow down', { headers: { 'retry-after': '60' } })],
    ['500', refused(500, 'oops')],
    ['400', refused(400, 'no such parameter')],
  ])('one refused with %s: nothing', async (_, reply) => {
    const { budget, settled } = openBudget();
    await using at = await startModel(LIMITS, { budget });
    at.server.reply([reply]);
    await expect(at.model.ask(request, quiet())).rejects.toThrow(AppError);
    expect(settled).toEqual([{ ...NO_USAGE, requests: 1 }]);
  });

  test('one whose connection was cut before the headers, by a balancer without hosts: nothing', async () => {
    const { budget, settled } = openBudget();
    await using at = await startModel(LIMITS, { budget });
    at.server.reply([{ broken: 'reset' }]);
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(settled).toEqual([{ ...NO_USAGE, requests: 1 }]);
    expect(at.calls.map(({ usage }) => usage)).toEqual(settled);
  });

  test('one that reached no server: nothing', async () => {
    const { budget, settled } = openBudget();
    const at = await startModel(LIMITS, { budget });
    await at[Symbol.asyncDispose]();
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(settled).toEqual([{ ...NO_USAGE, requests: 1 }]);
  });
});

test('a server that tells no usage: thinking counts as what it said does', async () => {
  const { budget, settled } = openBudget();
  await using at = await startModel({ LLM_MAX_RETRIES: '0' }, { budget });
  at.server.reply([{ ...json(GOOD), reasoning: 'well '.repeat(1_000), usage: null }]);
  await at.model.ask(request, quiet());
  expect(settled[0]?.completionTokens).toBeGreaterThan(1_000);
});

test.each([9e15, 1e12, -5, 0.5, '7'])('a count of %s that a server tells is not believed', async (count) => {
  const { budget, settled } = openBudget();
  await using at = await startModel({ LLM_MAX_RETRIES: '0' }, { budget });
  const usage = { prompt_tokens: count, completion_tokens: count } as {
    prompt_tokens: number;
    completion_tokens: number;
  };
  at.server.reply([{ ...json(GOOD), usage }]);
  await at.model.ask(request, quiet());
  expect(settled[0]?.promptTokens).toBeGreaterThan(PROMPT_AT_LEAST);
  expect(settled[0]?.promptTokens).toBeLessThan(1_000);
  expect(settled[0]?.completionTokens).toBeLessThan(1_000);
});

test('a server that does not keep to the longest answer is asked once: MODEL_BAD_ANSWER', async () => {
  await using at = await startModel({ ...LIMITS, LLM_MAX_RETRIES: '2' });
  at.server.reply([{ content: 'x'.repeat(200_000), chunkSize: 20_000 }]);
  await expect(at.model.ask(request, quiet())).rejects.toMatchObject({
    code: 'MODEL_BAD_ANSWER',
    disposition: 'terminal',
    message: expect.stringContaining('longer than'),
  });
  expect(at.server.requests).toHaveLength(1);
});
