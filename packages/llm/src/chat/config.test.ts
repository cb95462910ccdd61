import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { modelConfig } from './config.ts';
import { createModel } from './create-model.ts';

const schema = z.object(modelConfig);
const NUMBERS = Object.keys(modelConfig).filter((name) => /TOKENS|RETRIES|_MS$/.test(name));

describe('D21: a limit that is no plain number is refused at the start, and the variable named', () => {
  test.each(
    NUMBERS.flatMap((name) =>
      ['abc', '', '-1', '1e9', 'NaN', 'Infinity', '0x10', '9999999999'].map((text) => [name, text]),
    ),
  )('%s=%s', (name = '', text) => {
    const parsed = schema.safeParse({ [name]: text });
    expect(parsed.error?.issues.map(({ path }) => path[0])).toEqual([name]);
    expect(parsed.error?.issues[0]?.message).toMatch(/^must be a whole number from \d+ to \d+$/);
  });

  test('LLM_MAX_RETRIES is among them', () => {
    expect(NUMBERS).toContain('LLM_MAX_RETRIES');
    expect(schema.parse({ LLM_MAX_RETRIES: '0' }).LLM_MAX_RETRIES).toBe(0);
  });
});

test.each([
  ['MODEL_API_KEY', 'sk-first\n-second'],
  ['MODEL_API_KEY', '“sk-quoted”'],
  ['MODEL_API_KEY', 'sk two'],
  ['MODEL_URL', 'https://user:pass@models.example/v1'],
  ['MODEL_URL', 'https://models.example/v1?api_key=abc'],
  ['MODEL_URL', 'https://models.example/v1#x'],
  ['MODEL_URL', 'https://models.example:99999/v1'],
  ['MODEL_URL', 'ftp://models.example/v1'],
])('%s %j could never be sent: refused at the start, without being repeated', (name, text) => {
  const issues = schema.safeParse({ [name]: text }).error?.issues ?? [];
  expect(issues.map(({ path }) => path[0])).toEqual([name]);
  expect(JSON.stringify(issues)).not.toMatch(/second|quoted|two|pass@|abc/);
});

test('a key from a file may end in a line break', () => {
  expect(schema.parse({ MODEL_API_KEY: 'sk-file\n' }).MODEL_API_KEY).toBe('sk-file');
});

test('without MODEL the rules answer; a model without a server is a fault of the configuration', async () => {
  expect((await createModel(schema.parse({}))).isOffline).toBe(true);
  await expect(createModel(schema.parse({ MODEL: 'm' }))).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('MODEL_URL'),
  });
});

test.each([
  ['4096', '4096', true],
  ['5000', '4000', false],
  ['5000', '4001', true],
  ['1000', '1000000', true],
])(
  'a window of %s beside answers of %s is refused at the start where it leaves no prompt: %s',
  async (window, longest, isRefused) => {
    const limits = { MODEL_CONTEXT_TOKENS: window, MODEL_MAX_OUTPUT_TOKENS: longest };
    const created = createModel(schema.parse({ MODEL: 'm', MODEL_URL: 'http://127.0.0.1:9/v1', ...limits }));
    if (!isRefused) return expect(await created).toMatchObject({ isOffline: false });
    await expect(created).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(/MODEL_CONTEXT_TOKENS .* MODEL_MAX_OUTPUT_TOKENS/),
    });
  },
);

test.each([
  ['1000', 500],
  ['1500', 600],
  ['4096', 1_638],
  ['9000', 4_004],
  ['32768', 25_395],
])('a window of %s without a longest answer that is set leaves a prompt %i tokens', async (window, promptTokens) => {
  const env = { MODEL: 'm', MODEL_URL: 'http://127.0.0.1:9/v1', MODEL_CONTEXT_TOKENS: window };
  expect(await createModel(schema.parse(env))).toMatchObject({ isOffline: false, promptTokens });
});
