import { AppError } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { toUnended } from './knowledge.ts';

test('a laundering that is not answered in time is told to go on, and where it can be seen; other errors stay', () => {
  const late = new AppError('REQUEST_TIMEOUT', 'no answer on ctl.acme.knowledge.launder within 120000 ms');
  expect(toUnended(late)).toMatchObject({
    code: 'REQUEST_TIMEOUT',
    message: expect.stringContaining('may go on'),
    details: { remedy: expect.stringContaining('slate knowledge reports') },
  });
  const away = new AppError('BROKER_UNAVAILABLE', 'nobody serves it');
  expect(toUnended(away)).toBe(away);
});
