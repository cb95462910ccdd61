import { AppError } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { isMessageFault, readTraceparent } from './context.ts';

const databaseError = (code: string) => Object.assign(new Error('x'), { code });

test.each([
  [new AppError('INVALID_INPUT', 'x'), true],
  [new AppError('IDEMPOTENCY_CONFLICT', 'x'), true],
  [databaseError('22021'), true],
  [databaseError('23514'), true],
  [new AppError('DATABASE_UNAVAILABLE', 'x'), false],
  [databaseError('40P01'), false],
  [databaseError('57014'), false],
  [new Error('unknown'), false],
])('%o is the fault of its message: %s', (error, expected) => {
  expect(isMessageFault(error)).toBe(expected);
});

test('trace context is W3C trace context, or nothing', () => {
  const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  expect(readTraceparent(valid)).toBe(valid);
  for (const header of [undefined, '', 'x'.repeat(65_440), `${valid} `, valid.toUpperCase()])
    expect(readTraceparent(header)).toBeNull();
});
