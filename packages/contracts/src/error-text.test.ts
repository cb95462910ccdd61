import { expect, test } from 'vitest';
import { toErrorText } from './error-text.ts';

test.each([
  ['says all three', '--at: "x" is no time: write a date', { where: '--at', remedy: 'write a date' }, '"x" is no time'],
  ['says no part', '"x" is no time', { where: '--at', remedy: 'write a date' }, '"x" is no time'],
  ['names no part apart', '--at: "x" is no time: write a date', undefined, '--at: "x" is no time: write a date'],
  ['holds something else there', 'no', { where: 3, remedy: '' }, 'no'],
])('a message that %s is told once', (_, message, details, what) => {
  expect(toErrorText({ message, ...(details && { details }) }).what).toBe(what);
});
