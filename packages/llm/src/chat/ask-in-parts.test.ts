import { AppError } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askInParts, splitBlocks } from './ask-in-parts.ts';
import { type DataBlock, type ModelRequest, NO_USAGE } from './model.ts';
import { estimateTokens } from './tokens.ts';

const output = z.array(z.string());
const block = (text: string): DataBlock => ({ id: 'a', title: 'Contract', text });
const sizeOf = (data: readonly DataBlock[]) =>
  data.reduce((sum, each) => sum + estimateTokens(`${each.title ?? ''}${each.text}`).high, 0);

/** Takes so many tokens of data, and answers with what it was shown. */
function modelOf(window: number, told = window) {
  const asked: string[] = [];
  const ask = async <T>(request: ModelRequest<T>) => {
    asked.push(request.data.map(({ text }) => text).join(''));
    if (sizeOf(request.data) > window) throw new AppError('MODEL_CONTEXT_TOO_LONG', 'too long');
    const value = request.output.parse(request.data.map(({ text }) => text));
    return { value, provider: 'openai' as const, model: 'm', usage: { ...NO_USAGE, requests: 1 } };
  };
  return { isOffline: false, promptTokens: told + 510, ask, asked };
}

const request = (data: readonly DataBlock[]): ModelRequest<string[]> => ({
  ...{ purpose: 'read', instructions: 'Read.', data, output, offline: () => ['by rule'] },
});
const merge = (values: readonly string[][]) => values.flat();
const LONG = '甲方应当在三十日内付款。'.repeat(400);

describe('data longer than the window', () => {
  test('D15: is asked about in parts that fit, and nothing of it is lost', async () => {
    const model = modelOf(1_000);
    const { value, usage } = await askInParts(model, request([block(LONG), block('short')]), merge);
    expect(value.join('')).toBe(`${LONG}short`);
    expect(usage.requests).toBe(model.asked.length);
    expect(model.asked.length).toBeGreaterThan(5);
  });

  test('D15: where the server’s window is smaller than configured: once more in halves, then no more', async () => {
    const half = modelOf(600, 1_000);
    expect((await askInParts(half, request([block(LONG)]), merge)).value.join('')).toBe(LONG);
    const tenth = modelOf(100, 1_000);
    await expect(askInParts(tenth, request([block(LONG)]), merge)).rejects.toMatchObject({
      code: 'MODEL_CONTEXT_TOO_LONG',
    });
    expect(tenth.asked).toHaveLength(2);
  });

  test('parts hold all of any text, in order, and each fits', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '。', '甲', '😀', '.', '1'), maxLength: 400 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.integer({ min: 30, max: 200 }), (texts, room) => {
        const groups = splitBlocks(texts.map(block), room);
        expect(
          groups
            .flat()
            .map((each) => each.text)
            .join(''),
        ).toBe(texts.join(''));
        for (const group of groups) expect(sizeOf(group)).toBeLessThanOrEqual(room);
        expect(groups.flat().every((each) => each.text.isWellFormed())).toBe(true);
      }),
    );
  });
});
