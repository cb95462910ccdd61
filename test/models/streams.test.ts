import { json, type ModelReply } from '@cleanslate/testing';
import { describe, expect, test } from 'vitest';
import { GOOD, quiet, request, startModel } from './ask.ts';

describe('an error that a server says in the stream, its status being sent already, is the same error', () => {
  test.each<[string, unknown, string, string]>([
    ['a number', { message: 'bad guided grammar', code: 400 }, 'MODEL_BAD_REQUEST', 'terminal'],
    ['a number as text', { message: 'busy', code: '503' }, 'MODEL_UNAVAILABLE', 'pause'],
    ['a limit', { message: 'slow down', code: 429 }, 'MODEL_RATE_LIMITED', 'pause'],
    ['a limit by name', { message: 'slow down', type: 'rate_limit_error' }, 'MODEL_RATE_LIMITED', 'pause'],
    ['a window', { message: 'no', code: 'context_length_exceeded' }, 'MODEL_CONTEXT_TOO_LONG', 'terminal'],
    ['a type', { message: 'no such thing', type: 'invalid_request_error' }, 'MODEL_BAD_REQUEST', 'terminal'],
    ['a filter', { message: 'flagged', code: 'content_filter' }, 'MODEL_REFUSED', 'terminal'],
    ['words', { message: 'upstream went away' }, 'MODEL_UNAVAILABLE', 'pause'],
  ])('told by %s', async (_, streamError, code, disposition) => {
    await using at = await startModel({ LLM_MAX_RETRIES: '0' });
    at.server.reply([{ content: '{"severity":', streamError }]);
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code, disposition });
    // It was answered for a while: that is paid for.
    expect(at.calls[0]?.usage.promptTokens).toBeGreaterThan(50);
  });
});

describe('how a stream says that it is over', () => {
  test.each(['model_length', 'max_tokens', 'MAX_TOKENS'])(
    'D9: "%s" is cut as "length" is: MODEL_TRUNCATED',
    async (finishReason) => {
      await using at = await startModel();
      at.server.reply([{ ...json(GOOD), finishReason }]);
      await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_TRUNCATED' });
      expect(at.server.requests).toHaveLength(1);
    },
  );

  test.each(['insufficient_system_resource', 'error', 'abort'])(
    '"%s" is a stream that broke off: asked again within bounds, not believed',
    async (finishReason) => {
      await using at = await startModel({ LLM_MAX_RETRIES: '1' });
      const broken: ModelReply = { ...json({ ...GOOD, severity: 'LOW' }), finishReason };
      at.server.reply([broken, json(GOOD), broken]);
      expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
      await expect(at.model.ask(request, quiet())).rejects.toMatchObject({
        code: 'MODEL_STALLED',
        disposition: 'retryable',
        message: expect.stringContaining(finishReason),
      });
    },
  );
});

describe('what is no stream as it should be', () => {
  test.each([
    ['a line that was cut', 'data: {"choices":[{"delta":{"cont'],
    ['words of a proxy', 'data: upstream connect error'],
  ])('%s: asked again within bounds, then handed back as an error that spends an attempt', async (_, rawLine) => {
    await using at = await startModel({ LLM_MAX_RETRIES: '1' });
    const broken: ModelReply = { ...json(GOOD), rawLine };
    at.server.reply([broken, json(GOOD), broken]);
    expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({
      code: 'MODEL_STALLED',
      disposition: 'retryable',
      message: expect.stringContaining('not JSON'),
    });
    expect(at.server.requests).toHaveLength(4);
  });

  test.each(['data: null', 'data: 42', 'data: {"choices":[{"delta":{"tool_calls":{}}}]}'])(
    'a piece that says nothing changes nothing: %s',
    async (rawLine) => {
      await using at = await startModel();
      at.server.reply([{ ...json(GOOD), rawLine }]);
      expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
      expect(at.server.requests).toHaveLength(1);
    },
  );

  test('a server that sends its answer whole is understood, with what it used', async () => {
    await using at = await startModel();
    at.server.reply([{ ...json(GOOD), whole: true, usage: { prompt_tokens: 700, completion_tokens: 20 } }]);
    expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
    expect(at.server.requests).toHaveLength(1);
    expect(at.calls[0]?.usage).toMatchObject({ promptTokens: 700, completionTokens: 20 });
  });

  test.each([
    ['a refusal', { whole: true, refusal: 'no' }, 'MODEL_REFUSED'],
    ['a cut answer', { ...json(GOOD), whole: true, finishReason: 'length' }, 'MODEL_TRUNCATED'],
    ['an empty answer', { content: '', whole: true }, 'MODEL_EMPTY_ANSWER'],
    ['an error', { status: 200, body: { error: { message: 'slow down', code: 429 } } }, 'MODEL_RATE_LIMITED'],
    ['nothing', { status: 200, body: '' }, 'MODEL_STALLED'],
    ['no answer', { status: 200, body: { hello: 1 } }, 'MODEL_STALLED'],
  ] as [string, ModelReply, string][])(
    'of one that is sent whole, %s is what it is in a stream',
    async (_, reply, code) => {
      await using at = await startModel({ LLM_MAX_RETRIES: '0' });
      at.server.reply([reply]);
      await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code });
    },
  );
});

test.each(['reasoning_content', 'reasoning'] as const)(
  'D13: thinking in `%s` is progress: a model that thinks for long is not taken for one that stalls',
  async (reasoningField) => {
    await using at = await startModel({
      MODEL_FIRST_TOKEN_TIMEOUT_MS: '20000',
      MODEL_IDLE_TIMEOUT_MS: '100',
      LLM_MAX_RETRIES: '0',
    });
    at.server.reply([{ reasoning: 'well '.repeat(100), reasoningField, stallAfter: 3 }]);
    // It is the time between two tokens that ends it, so the first of them was seen.
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_STALLED' });
    expect(at.calls[0]?.usage.completionTokens).toBeGreaterThan(0);
  },
);
