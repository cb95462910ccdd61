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
        ...{ code: 'MODEL_STALLED', disposition: 'retryable', message: expect.stringContaining(finishReason) },
      });
    },
  );
});

test.each(['reasoning_content', 'reasoning'] as const)(
  'D13: thinking in `%s` is progress: a model that thinks for long is not taken for one that stalls',
  async (reasoningField) => {
    await using at = await startModel({
      ...{ MODEL_FIRST_TOKEN_TIMEOUT_MS: '20000', MODEL_IDLE_TIMEOUT_MS: '100', LLM_MAX_RETRIES: '0' },
    });
    at.server.reply([{ reasoning: 'well '.repeat(100), reasoningField, stallAfter: 3 }]);
    // It is the time between two tokens that ends it, so the first of them was seen.
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_STALLED' });
    expect(at.calls[0]?.usage.completionTokens).toBeGreaterThan(0);
  },
);
