import { describe, expect, test } from 'vitest';
import { Batcher } from './batcher.ts';

/** Answers each item with its double; `bad` fails by itself, `away` takes its whole batch along. */
function doubling(maxBatch: number) {
  const batches: (readonly string[])[] = [];
  const batcher = new Batcher<string, string>(
    async (items) => {
      batches.push(items);
      if (items.includes('away')) throw new Error('away');
      return items.map((item) => (item === 'bad' ? new Error('bad') : item + item));
    },
    { maxBatch },
  );
  return { batcher, batches };
}

describe('items that belong together', () => {
  test('stand behind each other between the others, and are answered in order', async () => {
    const { batcher, batches } = doubling(10);
    const [first, together, last] = [batcher.add('a'), batcher.addAll(['b', 'c']), batcher.add('d')];
    expect(await together).toEqual(['bb', 'cc']);
    expect(await Promise.all([first, last])).toEqual(['aa', 'dd']);
    expect(batches).toEqual([['a', 'b', 'c', 'd']]);
  });

  test('are answered once the last of them is, though they go in several batches', async () => {
    const { batcher, batches } = doubling(2);
    expect(await batcher.addAll(['a', 'b', 'c'])).toEqual(['aa', 'bb', 'cc']);
    expect(batches).toEqual([['a', 'b'], ['c']]);
    await batcher.drained();
    expect(batcher.waiting).toBe(0);
  });

  test('fail one by one, or with their batch', async () => {
    const { batcher } = doubling(2);
    const results = await batcher.addAll(['a', 'bad', 'b', 'away', 'c']);
    expect(results.map(String)).toEqual(['aa', 'Error: bad', 'Error: away', 'Error: away', 'cc']);
    await expect(batcher.add('bad')).rejects.toThrow('bad');
    await expect(batcher.add('away')).rejects.toThrow('away');
  });

  test('may be none', async () => {
    const { batcher, batches } = doubling(2);
    expect(await batcher.addAll([])).toEqual([]);
    expect(batches).toEqual([]);
  });
});
