import { expect, test } from 'vitest';
import { chain, given } from './testing.ts';

const dispatched = given(chain('a', 'b')).dispatch('a');

test('a doorbell that no message can carry ends its step with a letter, and the task visibly', () => {
  const over = dispatched.when({ kind: 'unsendable', stepId: 'a', attempt: 1, message: '9000000 bytes' });
  expect(over.state.task.state).toBe('failed');
  expect(over.step('a').error?.code).toBe('PAYLOAD_TOO_LARGE');
  expect(over.told).toContain('letter_written a');
});

test('of an attempt that was claimed or repeated meanwhile it changes nothing', () => {
  expect(dispatched.claim('a').when({ kind: 'unsendable', stepId: 'a', attempt: 1, message: 'x' }).events).toEqual([]);
  expect(dispatched.when({ kind: 'unsendable', stepId: 'a', attempt: 2, message: 'x' }).events).toEqual([]);
});
