import { json, type ModelReply, refused } from '@cleanslate/testing';
import { describe, expect, test } from 'vitest';
import { GOOD, quiet, request, startModel } from './ask.ts';

describe('what an endpoint understands is learned once', () => {
  const unknown = (what: RegExp, says: string): ((request: { text: string }) => ModelReply) => {
    return ({ text }) => (what.test(text) ? refused(400, says) : json(GOOD));
  };

  const UNKNOWN: [string, RegExp, string, RegExp][] = [
    ['a JSON schema', /"json_schema"/, 'response_format type json_schema is not supported', /"json_object"/],
    ['any response format', /"response_format"/, 'unknown field: response_format', /"messages"/],
    ['stream_options', /"stream_options"/, 'Unrecognized request argument: stream_options', /"json_schema"/],
    ['a temperature', /"temperature"/, "Unsupported value: 'temperature'", /"json_schema"/],
    [
      'max_tokens',
      /"max_tokens"/,
      "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'",
      /"max_completion_tokens"/,
    ],
    ['this very schema', /"json_schema"/, "Invalid schema for response_format 'find-risk'", /"json_object"/],
  ];

  test.each(UNKNOWN)('one that does not know %s', async (_, what, says, then) => {
    await using at = await startModel({ LLM_MAX_RETRIES: '0' });
    at.server.reply(unknown(what, says));
    expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
    const learned = at.server.requests.length;
    expect((await at.model.ask(request, quiet())).value).toEqual(GOOD);
    expect(at.server.requests).toHaveLength(learned + 1);
    expect(at.server.requests.at(-1)?.text).toMatch(then);
    expect(at.server.requests.at(-1)?.text).not.toMatch(what);
  });

  test.each(UNKNOWN.flatMap(([name, ...rest]) => [2, 5].map((count) => [name, count, ...rest] as const)))(
    'one that does not know %s, asked by %i at once: what the first refusal teaches, the others are sent with',
    async (_, count, what, says, then) => {
      await using at = await startModel({ LLM_MAX_RETRIES: '0' });
      const allCame = Promise.withResolvers<void>();
      at.server.reply(async (seen, n) => {
        if (n === count) allCame.resolve();
        // So that all of them were sent before any was refused.
        await allCame.promise;
        return unknown(what, says)(seen);
      });
      const answers = await Promise.all(Array.from({ length: count }, () => at.model.ask(request, quiet())));
      expect(answers.map(({ value }) => value)).toEqual(answers.map(() => GOOD));
      at.server.forget();
      await at.model.ask(request, quiet());
      expect(at.server.requests.map(({ text }) => text)).toEqual([expect.stringMatching(then)]);
    },
  );

  test('a value that is refused is no name that is unknown: nothing is learned from it', async () => {
    await using at = await startModel({ LLM_MAX_RETRIES: '0' });
    at.server.reply([
      refused(400, 'max_tokens is too large: 1000000. This model supports at most 16384 completion tokens'),
    ]);
    await expect(at.model.ask(request, quiet())).rejects.toMatchObject({ code: 'MODEL_BAD_REQUEST' });
    at.server.forget();
    at.server.reply([json(GOOD)]);
    await at.model.ask(request, quiet());
    expect(at.server.requests.map(({ body }) => 'max_tokens' in body)).toEqual([true]);
  });

  test('one that refuses the schema of one question, and JSON mode with it, is still asked others by schema', async () => {
    await using at = await startModel({ LLM_MAX_RETRIES: '0' });
    at.server.reply(({ text }) => {
      if (!text.includes('Narrow')) return json(GOOD);
      if (text.includes('"json_schema"')) return refused(400, "Invalid schema for response_format 'find-risk'");
      return text.includes('"json_object"') ? refused(400, 'json_object is not supported') : json(GOOD);
    });
    expect((await at.model.ask({ ...request, instructions: 'Narrow.' }, quiet())).value).toEqual(GOOD);
    await at.model.ask({ ...request, purpose: 'another' }, quiet());
    expect(at.server.requests.at(-1)?.text).toContain('"json_schema"');
  });
});
