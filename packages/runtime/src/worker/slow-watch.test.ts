import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SlowWatch } from './slow-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('each that takes too long is told once, at its own time; what is over before is not', () => {
  const slow = new SlowWatch(50);
  const told: string[] = [];
  const quick = slow.watch(() => told.push('quick'));
  slow.watch(() => told.push('first'));
  vi.advanceTimersByTime(20);
  slow.watch(() => told.push('second'));
  slow.forget(quick);
  vi.advanceTimersByTime(29);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['first']);
  vi.advanceTimersByTime(20);
  expect(told).toEqual(['first', 'second']);
  vi.advanceTimersByTime(1_000);
  expect(told).toEqual(['first', 'second']);
  expect(vi.getTimerCount()).toBe(0);
});

test('one that is watched after all others were forgotten has its own time', () => {
  const slow = new SlowWatch(50);
  const told: string[] = [];
  slow.forget(slow.watch(() => told.push('quick')));
  vi.advanceTimersByTime(40);
  slow.watch(() => told.push('late'));
  vi.advanceTimersByTime(49);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['late']);
});
