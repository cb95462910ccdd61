import { expect, test } from 'vitest';
import { eachOf } from './pages.ts';

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const pages: Record<string, { items: number[]; next: string | null }> = {
  first: { items: [1, 2], next: 'b' },
  b: { items: [], next: 'c' },
  c: { items: [3], next: null },
};

test('every item of every page once, also behind an empty page, from the start or behind a cursor', async () => {
  const read = async (cursor = 'first') => pages[cursor] ?? { items: [], next: null };
  expect(await collect(eachOf(read, (page) => page.items))).toEqual([1, 2, 3]);
  expect(await collect(eachOf(read, (page) => page.items, 'b'))).toEqual([3]);
});

test('no page is read that nobody asked for', async () => {
  const asked: string[] = [];
  const read = async (cursor = 'first') => {
    asked.push(cursor);
    return pages[cursor] ?? { items: [], next: null };
  };
  for await (const item of eachOf(read, (page) => page.items)) if (item === 2) break;
  expect(asked).toEqual(['first']);
});
