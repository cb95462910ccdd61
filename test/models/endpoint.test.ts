import { AppError } from '@cleanslate/contracts';
import { json, type ModelReply, refused } from '@cleanslate/testing';
import { describe, expect, test } from 'vitest';
import { GOOD, quiet, request, startModel } from './ask.ts';

const rejection = (asked: Promise<unknown>) =>
  asked.then(
    () => expect.unreachable('it was answered'),
    (error: unknown) => error as AppError,
  );

const page = (status: number): ModelReply => ({
  status,
  body: '<html><body>Please log in.</body></html>',
  headers: { 'content-type': 'text/html; charset=utf-8' },
});

describe('retries', () => {
  test('D11: a short Retry-After is waited for, in place', async () => {
    await using at = await startModel();
    at.server.reply([refused(429, 'slow down', { headers: { 'retry-after': '1' } }), json(GOOD)]);
    expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
    const [first, second] = at.server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(995);
  });

  test.each([
    ['an hour', () => '3600', 3_600_000],
    // Of the moment it is sent in.
    ['a date', () => new Date(Date.now() + 3_600_000).toUTCString(), 3_600_000],
    ['three days and more', () => '277403', 86_400_000],
  ])(
    'D11: a Retry-After of %s is handed back at once with its time, and no attempt is spent',
    async (_, headerNow, ms) => {
      await using at = await startModel();
      at.server.reply([refused(429, 'quota', { headers: { 'retry-after': headerNow() } })]);
      const startedAt = performance.now();
      const error = await rejection(at.model.ask(request, quiet()));
      expect(performance.now() - startedAt).toBeLessThan(60_000);
      expect(error).toMatchObject({ code: 'MODEL_RATE_LIMITED', disposition: 'pause' });
      expect(Math.abs((error.retryAfterMs ?? 0) - ms)).toBeLessThan(30_000);
      expect(at.server.requests).toHaveLength(1);
    },
  );

  test.each([
    ['429', refused(429, 'You exceeded your current quota', { code: 'insufficient_quota' })],
    ['402, as DeepSeek says it', refused(402, 'Insufficient Balance', { code: 'invalid_request_error' })],
  ])('D11: an account without money (%s) is not asked again in place, and no task fails by it', async (_, reply) => {
    await using at = await startModel();
    at.server.reply([reply]);
    const error = await rejection(at.model.ask(request, quiet()));
    expect(error).toMatchObject({ code: 'MODEL_RATE_LIMITED', disposition: 'pause', retryAfterMs: 300_000 });
    expect(at.server.requests).toHaveLength(1);
  });

  test('D12: a cancel during the wait rejects at once, and nothing more is asked', async () => {
    await using at = await startModel();
    at.server.reply([refused(503, 'busy', { headers: { 'retry-after': '4' } })]);
    const stop = new AbortController();
    const asked = rejection(at.model.ask(request, { signal: stop.signal }));
    await expect.poll(() => at.calls).toHaveLength(1);
    const cancelledAt = performance.now();
    stop.abort(new AppError('CANCELLED', 'by a person'));
    expect(await asked).toMatchObject({ code: 'CANCELLED' });
    // The wait would be four seconds.
    expect(performance.now() - cancelledAt).toBeLessThan(3_000);
    expect(at.server.requests).toHaveLength(1);
  });

  test('D12: a cancel in the middle of a stream rejects at once and ends the request', async () => {
    await using at = await startModel();
    at.server.reply([{ ...json(GOOD), stallAfter: 1 }]);
    const stop = new AbortController();
    const asked = rejection(at.model.ask(request, { signal: stop.signal }));
    await expect.poll(() => at.server.concurrency).toBe(1);
    const cancelledAt = performance.now();
    stop.abort(new AppError('CANCELLED', 'by a person'));
    expect(await asked).toMatchObject({ code: 'CANCELLED' });
    expect(performance.now() - cancelledAt).toBeLessThan(10_000);
    await expect.poll(() => at.server.concurrency).toBe(0);
  });

  test('D12: each request has its own full time, and all of them together are counted', async () => {
    await using at = await startModel({ MODEL_HEADERS_TIMEOUT_MS: '1000', LLM_MAX_RETRIES: '2' });
    at.server.reply([{ broken: 'no-headers' }]);
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({
      code: 'MODEL_TIMEOUT',
      disposition: 'retryable',
      message: expect.stringContaining('MODEL_HEADERS_TIMEOUT_MS'),
    });
    expect(at.server.requests).toHaveLength(3);
    expect(at.calls.map(({ ms }) => ms > 990)).toEqual([true, true, true]);
  });

  test('D12: retries of all kinds share one count: never more than the limit', async () => {
    await using at = await startModel({ LLM_MAX_RETRIES: '3', MODEL_IDLE_TIMEOUT_MS: '100' });
    const faults: ModelReply[] = [
      refused(500, 'oops'),
      { broken: 'reset' },
      { content: '' },
      { ...json(GOOD), stallAfter: 2 },
    ];
    at.server.reply((_, n) => faults[(n - 1) % faults.length] ?? { content: '' });
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({ code: 'MODEL_STALLED' });
    expect(at.server.requests).toHaveLength(4);
  });

  test.each<[string, ModelReply, string, string]>([
    ['a reset before the headers', { broken: 'reset' }, 'MODEL_UNAVAILABLE', 'pause'],
    ['a reset in the stream', { ...json(GOOD), resetAfter: 2 }, 'MODEL_UNAVAILABLE', 'pause'],
    ['503', refused(503, 'down'), 'MODEL_UNAVAILABLE', 'pause'],
    ['500, which may be the prompt’s fault', refused(500, 'oops'), 'MODEL_UNAVAILABLE', 'retryable'],
    ['429 without a time', refused(429, 'slow'), 'MODEL_RATE_LIMITED', 'pause'],
    ['401', refused(401, 'bad key'), 'CONFIGURATION', 'pause'],
    ['404', refused(404, 'no model'), 'CONFIGURATION', 'pause'],
    ['a page for people', page(200), 'CONFIGURATION', 'pause'],
    ['a page with a status', page(503), 'MODEL_UNAVAILABLE', 'pause'],
    ['400', refused(400, 'no such parameter'), 'MODEL_BAD_REQUEST', 'terminal'],
  ])('%s ends in its own code', async (_, reply, code, disposition) => {
    await using at = await startModel({ LLM_MAX_RETRIES: '1' });
    at.server.reply([reply]);
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({ code, disposition });
    expect(at.server.requests).toHaveLength(code === 'CONFIGURATION' || code === 'MODEL_BAD_REQUEST' ? 1 : 2);
  });

  test.each([301, 302, 307, 308])('a redirect (%i) is not followed: key and prompt stay here', async (status) => {
    await using at = await startModel();
    await using elsewhere = await startModel();
    at.server.reply([
      refused(status, 'moved', { headers: { location: `${elsewhere.server.url}/chat/completions?k=1` } }),
    ]);
    const host = new URL(elsewhere.server.url).host;
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({
      code: 'CONFIGURATION',
      disposition: 'pause',
      message: expect.stringMatching(new RegExp(`to http://${host} \\(${status}\\), .* set MODEL_URL`)),
    });
    expect([at.server.requests.length, elsewhere.server.requests.length]).toEqual([1, 0]);
  });

  test('a server that is not there is MODEL_UNAVAILABLE', async () => {
    const at = await startModel({ LLM_MAX_RETRIES: '0' });
    await at[Symbol.asyncDispose]();
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      disposition: 'pause',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('streams', () => {
  test('D13: headers, one chunk, silence: MODEL_STALLED within the limit; the part is not the answer', async () => {
    await using at = await startModel({ MODEL_IDLE_TIMEOUT_MS: '200', LLM_MAX_RETRIES: '0' });
    at.server.reply([{ ...json(GOOD), chunkSize: 200, stallAfter: 2 }]);
    const startedAt = performance.now();
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({
      code: 'MODEL_STALLED',
      disposition: 'retryable',
    });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(at.calls).toMatchObject([{ outcome: 'MODEL_STALLED' }]);
  });

  test('D13: headers and never a token: MODEL_TIMEOUT that names its setting; the next request may do better', async () => {
    await using at = await startModel({ MODEL_FIRST_TOKEN_TIMEOUT_MS: '2000', LLM_MAX_RETRIES: '1' });
    at.server.reply([{ ...json(GOOD), stallAfter: 0 }, json(GOOD)]);
    expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
    expect(at.calls.map(({ outcome }) => outcome)).toEqual(['MODEL_TIMEOUT', 'ok']);
  });

  test('D13: a stream that goes on for ever ends with the total time', async () => {
    await using at = await startModel({ MODEL_TIMEOUT_MS: '400', LLM_MAX_RETRIES: '0' });
    at.server.reply([{ content: 'x'.repeat(5_000), chunkSize: 1, chunkDelayMs: 5 }]);
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({
      code: 'MODEL_TIMEOUT',
      message: expect.stringContaining('MODEL_TIMEOUT_MS'),
    });
  });
});

describe('prompts and windows', () => {
  test('D14: a prompt beyond the window is refused before it is sent', async () => {
    await using at = await startModel({ MODEL_CONTEXT_TOKENS: '4000', MODEL_MAX_OUTPUT_TOKENS: '500' });
    const data = [{ id: 'a', text: '合同条款'.repeat(2_000) }];
    expect(await rejection(at.model.ask({ ...request, data }, quiet()))).toMatchObject({
      code: 'MODEL_CONTEXT_TOO_LONG',
      disposition: 'terminal',
      message: expect.stringContaining('MODEL_CONTEXT_TOKENS'),
    });
    expect(at.server.requests).toHaveLength(0);
  });

  test('D14: a server that says it read far less than was sent has cut the prompt: flagged, not stored', async () => {
    await using at = await startModel();
    const data = [
      { id: 'a', text: 'The supplier shall deliver the goods within thirty days of the order. '.repeat(200) },
    ];
    const half = { ...json(GOOD), usage: { prompt_tokens: 1_024, completion_tokens: 12 } };
    at.server.reply([half]);
    expect(await rejection(at.model.ask({ ...request, data }, quiet()))).toMatchObject({
      code: 'MODEL_PROMPT_CUT',
      disposition: 'terminal',
      details: { promptTokens: 1_024 },
    });
    at.server.reply([json(GOOD)]);
    expect((await at.model.ask({ ...request, data }, quiet())).value).toEqual(GOOD);
  });

  test('D15: a server whose window is smaller than believed says so once: MODEL_CONTEXT_TOO_LONG, no loop', async () => {
    await using at = await startModel();
    at.server.reply([
      refused(400, "This model's maximum context length is 8192 tokens.", { code: 'context_length_exceeded' }),
    ]);
    expect(await rejection(at.model.ask(request, quiet()))).toMatchObject({ code: 'MODEL_CONTEXT_TOO_LONG' });
    expect(at.server.requests).toHaveLength(1);
  });

  test('D22: an error that repeats a prompt of 5 MB is some hundred characters without it, and quick', async () => {
    const secret = 'sk-live-THE-SECRET-0123456789';
    await using at = await startModel({ MODEL_CONTEXT_TOKENS: '10000000' });
    const data = [{ id: 'a', text: `${secret} and `.repeat(150_000).slice(0, 5_000_000) }];
    const answered: number[] = [];
    at.server.reply(({ text }) => {
      answered.push(performance.now());
      return refused(400, `Invalid prompt: ${text}`);
    });
    const error = await rejection(at.model.ask({ ...request, data }, quiet()));
    expect(performance.now() - (answered[0] ?? 0)).toBeLessThan(30_000);
    expect(error).toMatchObject({ code: 'MODEL_BAD_REQUEST', disposition: 'terminal' });
    const stored = JSON.stringify(error.toBody());
    expect(stored.length).toBeLessThan(1_000);
    expect(stored).not.toContain('SECRET');
    expect(error.cause).toBeUndefined();
    expect(at.server.requests).toHaveLength(1);
  });

  test('D22: the server’s key never stands in an error', async () => {
    await using at = await startModel({ LLM_MAX_RETRIES: '0' });
    at.server.reply([refused(401, 'Incorrect API key provided: sk-simulated-key-0001')]);
    const error = await rejection(at.model.ask(request, quiet()));
    expect(JSON.stringify([error.toBody(), error.stack])).not.toContain('simulated-key');
  });
});
