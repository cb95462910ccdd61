import { expect, test } from 'vitest';
import { LaunchError } from './launch-error.ts';

test('a service that says why it did not start is quoted with that alone', () => {
  const fatal = JSON.stringify({
    level: 'fatal',
    err: { message: 'POOL must be a number', code: 'CONFIGURATION', stack: 'at …' },
  });
  const error = new LaunchError('START_FAILED', 'x ended.', ['{"level":"info"}', fatal]);
  expect(error.message).toBe('x ended.\n  POOL must be a number (CONFIGURATION)');
  expect(error.lastLines).toHaveLength(2);
});

test.each([['plain words'], ['{"level":"fatal"}'], ['{"level":"fatal","err":{"message":7}}'], ['null'], ['{"level":']])(
  'any other last line is shown as it is: %s',
  (line) => {
    expect(new LaunchError('START_FAILED', 'x ended.', [line]).message).toBe(`x ended.\nLast lines:\n  ${line}`);
  },
);
