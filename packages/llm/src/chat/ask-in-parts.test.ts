import { AppError } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askInParts, splitBlocks } from './ask-in-parts.ts';
import { type DataBlock, type ModelRequest, NO_USAGE } from './model.ts';
import { estimateTokens } from './tokens.ts';
import { renderBlocks } from './untrusted.ts';

const output = z.array(z.string());
const block = (text: string): DataBlock => ({ id: 'a', title: 'Contract', text });
/** As it is said to the model. */
const sizeOf = (data: readonly DataBlock[]) => estimateTokens(renderBlocks(data).text).high;

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
  purpose: 'read',
  instructions: 'Read.',
  data,
  output,
  offline: () => ['by rule'],
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
    const unit = fc.constantFrom('a', ' ', '\n', '。', '甲', '😀', '.', '1');
    const text = fc.string({ unit, maxLength: 2_000, size: 'max' });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.integer({ min: 300, max: 600 }), (texts, room) => {
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

  test('many small blocks are as large as they are said to the model, with delimiters, title and source', () => {
    const blocks = Array.from({ length: 300 }, (_, n) => ({ ...block(`Fact ${n}.`), id: `fact-${n}`, source: 'kb' }));
    const groups = splitBlocks(blocks, 1_000);
    expect(groups.flat()).toEqual(blocks);
    for (const group of groups) expect(sizeOf(group)).toBeLessThanOrEqual(1_000);
  });

  test('a cut falls between sentences, not into a number', () => {
    const text = 'The fee is USD 1.500.000 in all. '.repeat(200);
    const texts = splitBlocks([block(text)], 500).flatMap((group) => group.map((each) => each.text));
    expect(texts.join('')).toBe(text);
    for (const each of texts.slice(0, -1)) expect(each).toMatch(/in all\.$/);
  });

  test.each([
    ['one line', 'x'],
    ['short lines', 'a\n'],
    ['one sentence and no more', '条'],
  ])('%s of millions of characters is cut in linear time', (_, piece) => {
    const text = `One. ${piece.repeat(4_000_000 / piece.length)}`;
    const groups = splitBlocks([block(text)], 300);
    expect(groups.flatMap((group) => group.map((each) => each.text)).join('') === text).toBe(true);
  });

  test.each([
    ['leave room for hardly any of the data', 'Read with care. '.repeat(150)],
    ['are longer than the window', 'Read with care. '.repeat(5_000)],
  ])('where instructions %s, nothing is asked: MODEL_CONTEXT_TOO_LONG says what to do', async (_, instructions) => {
    const model = modelOf(1_000);
    const asked = askInParts(model, { ...request([block(LONG)]), instructions }, merge);
    await expect(asked).rejects.toMatchObject({
      code: 'MODEL_CONTEXT_TOO_LONG',
      message: expect.stringContaining('MODEL_CONTEXT_TOKENS'),
    });
    expect(model.asked).toEqual([]);
  });
});
