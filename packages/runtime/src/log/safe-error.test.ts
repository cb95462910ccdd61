import { AppError } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { toReason } from './safe-error.ts';

const refused = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:9')], ''), {
  code: 'ECONNREFUSED',
});
const loop = new Error('not saved: disk full');
loop.cause = new Error('disk full', { cause: loop });

test.each([
  ['its cause follows', new TypeError('fetch failed', { cause: new Error('no route') }), 'fetch failed: no route'],
  ['no message: Node, where a name had several addresses', refused, 'AggregateError ECONNREFUSED'],
  [
    'a cause without one',
    new TypeError('fetch failed', { cause: refused }),
    'fetch failed: AggregateError ECONNREFUSED',
  ],
  ['an error that repeats its cause, and goes in circles', loop, 'not saved: disk full'],
  ['of an AppError its message is all', new AppError('X_Y', 'short', { cause: new Error('a row') }), 'short'],
  [
    'an AppError as a cause',
    new Error('not read', { cause: new AppError('X_Y', 'short', { cause: loop }) }),
    'not read: short',
  ],
  ['text', 'just text', 'just text'],
  ['nothing', undefined, 'undefined was thrown, not an error'],
])('the reason of what was thrown: %s', (_, thrown, reason) => {
  expect(toReason(thrown)).toBe(reason);
});
