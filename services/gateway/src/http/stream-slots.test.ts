import { expect, test } from 'vitest';
import { streamSlots } from './stream-slots.ts';

const LIMITED = expect.objectContaining({ code: 'RATE_LIMITED', retryAfterMs: 5_000 });

test('one tenant takes its share and no more; what it gives back can be taken again', () => {
  const take = streamSlots({ maxStreams: 5, maxStreamsPerTenant: 2 });
  const first = take('acme');
  take('acme');
  expect(() => take('acme')).toThrow(LIMITED);
  take('globex');
  first();
  take('acme');
  expect(() => take('acme')).toThrow(LIMITED);
});

test('all tenants together take no more than there are', () => {
  const take = streamSlots({ maxStreams: 3, maxStreamsPerTenant: 2 });
  take('acme');
  take('acme');
  const last = take('globex');
  expect(() => take('initech')).toThrow(LIMITED);
  last();
  take('initech');
});
