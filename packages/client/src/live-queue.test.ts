import { getEventListeners } from 'node:events';
import type { Envelope } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { LiveQueue } from './live-queue.ts';

const MESSAGE = { kind: 'event', envelope: {} as Envelope } as const;

test('many waits on one signal leave no listener behind, whatever ended them', async () => {
  const queue = new LiveQueue();
  const stop = new AbortController();
  for (let round = 0; round < 200; round++) {
    const woken = queue.wait(60_000, stop.signal);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    queue.push(MESSAGE);
    await woken;
    queue.shift();
    await queue.wait(1, stop.signal);
  }
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
});

test('an abort ends a wait', async () => {
  const stop = new AbortController();
  const waiting = new LiveQueue().wait(60_000, stop.signal);
  stop.abort();
  await waiting;
});
