import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { remember } from './remember.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('all who ask at once, and until the answer is old, share one question', async () => {
  let asked = 0;
  const number = remember(1_000, async () => ++asked);
  expect(await Promise.all([number(), number()])).toEqual([1, 1]);
  vi.advanceTimersByTime(999);
  expect(await number()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await number()).toBe(2);
});

test('a failure is told to who asked, and asked again at once', async () => {
  const answers = [Promise.reject(new Error('away')), Promise.resolve('here')];
  const state = remember(1_000, async () => await answers.shift());
  await expect(state()).rejects.toThrow('away');
  expect(await state()).toBe('here');
});
