import { MAX_BODY_BYTES } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { judgeBroker, refusesPublishes } from './judge-broker.ts';

const broker = { version: '2.12.0', jetstream: true, max_payload: MAX_BODY_BYTES };

test('a broker with JetStream that lets whole documents through is as it should be', () => {
  expect(judgeBroker(broker)).toMatchObject({ state: 'ok' });
});

test('one that keeps the limit of a server without a configuration is warned about, with what to set', () => {
  expect(judgeBroker({ ...broker, max_payload: 1024 * 1024 })).toMatchObject({
    state: 'warn',
    found: 'nats-server 2.12.0, JetStream, messages up to 1048576 bytes: larger documents are refused',
    remedy: 'set max_payload: 8MB in its configuration',
  });
});

test('one without JetStream is warned about', () => {
  expect(judgeBroker({ ...broker, jetstream: false })).toMatchObject({ state: 'warn' });
});

test('a stream that could not be written fails, in the broker’s words and with what ends it', () => {
  expect(refusesPublishes('INTAKE', 'write 1.blk: no space left on device')).toEqual({
    name: 'stream INTAKE',
    state: 'fail',
    found: 'publishes to it are refused: write 1.blk: no space left on device',
    remedy: expect.stringMatching(/make room .*restart it/),
  });
});
