import { AppError, type DataOf, DeadLettered, decodeMessage, workConsumer } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeadLetterOptions, deadLetter } from './dead-letter.ts';
import { Publisher } from './publisher.ts';
import { PullLoop } from './pull-loop.ts';
import type { PulledMessage } from './pulled-message.ts';
import { startTestBroker, type TestBroker } from './test-broker.ts';
import { until } from './until.ts';

let broker: TestBroker<Awaited<ReturnType<typeof startNatsServer>>>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

const jsm = () => jetstreamManager(broker.admin.raw, { checkAPI: false, timeout: 30_000 });
const count = async (stream: string) => (await (await jsm()).streams.info(stream)).state.messages;

test('bytes, headers and subject are kept, once; the original ends only when the letter is stored', async () => {
  const bus = await broker.connect({ kind: 'worker', role: 'analyzer' });
  const publisher = new Publisher(bus);
  const options: DeadLetterOptions = {
    bus,
    publisher,
    consumer: workConsumer('analyzer'),
    source: '/test',
    timeoutMs: 3_000,
  };
  const taken: PulledMessage[] = [];
  const loop = new PullLoop(bus, {
    stream: 'COMMANDS',
    durable: 'work-analyzer',
    slots: 5,
    onMessage: (message) => taken.push(message),
  });
  loop.start();
  const scheduler = (await broker.connect({ kind: 'scheduler' })).raw;
  const original = headers();
  original.append('traceparent', '00-abc');
  original.append('Multi', 'one');
  original.append('Multi', 'two');
  original.set('Original-Nats-Msg-Id', 'x');
  scheduler.publish('cmd.work.analyzer.acme.t1', Uint8Array.of(0xff, 0, 0x7b), { headers: original });
  await until(() => taken.length === 1, 'taken');
  const [message] = taken;
  if (message === undefined) throw new Error('nothing taken');

  // No DLQ: the message stays.
  const config = (await (await jsm()).streams.info('DLQ')).config;
  await (await jsm()).streams.delete('DLQ');
  expect(await deadLetter(options, message, new AppError('UNPARSEABLE', 'no JSON'))).toBe(false);
  expect(await count('COMMANDS')).toBe(1);

  // It is back: a second delivery of the same message (here: the same call again) is the same letter.
  await (await jsm()).streams.add(config);
  const again = { ...message, subject: message.subject, data: message.data, headers: message.headers } as PulledMessage;
  const copy = Object.assign(again, { streamSequence: message.streamSequence, deliveries: 2, term: () => undefined });
  expect(await deadLetter(options, copy, new AppError('UNPARSEABLE', 'no JSON'))).toBe(true);
  expect(await deadLetter(options, copy, new AppError('UNPARSEABLE', 'no JSON'))).toBe(true);
  expect(await count('DLQ')).toBe(1);
  const letter = await lastLetter();
  expect(letter).toMatchObject({
    stream: 'COMMANDS',
    consumer: 'work-analyzer',
    subject: 'cmd.work.analyzer.acme.t1',
    body: '/wB7',
    headers: { traceparent: ['00-abc'], Multi: ['one', 'two'], 'Original-Nats-Msg-Id': ['x'] },
    error: { code: 'UNPARSEABLE', message: 'no JSON' },
  });
  await loop.drain();
  publisher.close();
});

test('a body near max_payload still makes one letter, cut, and says so', async () => {
  const bus = await broker.connect({ kind: 'worker', role: 'generator' });
  const publisher = new Publisher(bus);
  const options: DeadLetterOptions = { bus, publisher, consumer: workConsumer('generator'), source: '/test' };
  const done: boolean[] = [];
  const loop = new PullLoop(bus, {
    stream: 'COMMANDS',
    durable: 'work-generator',
    slots: 5,
    onMessage: (message) => {
      const error = new AppError('UNPARSEABLE', 'x'.repeat(2_000_000));
      void deadLetter(options, message, error).then((stored) => done.push(stored));
    },
  });
  loop.start();
  const size = 8 * 1024 * 1024 - 200;
  (await broker.connect({ kind: 'scheduler' })).raw.publish('cmd.work.generator.acme.t1', new Uint8Array(size));
  await until(() => done.length === 1, 'put aside');
  expect(done).toEqual([true]);
  const letter = await lastLetter();
  expect(letter.error.details).toEqual({ bodyCutFromBytes: size });
  expect(letter.error.message.length).toBeLessThan(8_192);
  await loop.drain();
  publisher.close();
});

test('headers and details of any size leave room for one letter', async () => {
  const bus = await broker.connect({ kind: 'worker', role: 'validator' });
  const publisher = new Publisher(bus);
  const options: DeadLetterOptions = { bus, publisher, consumer: workConsumer('validator'), source: '/test' };
  const done: boolean[] = [];
  const loop = new PullLoop(bus, {
    stream: 'COMMANDS',
    durable: 'work-validator',
    slots: 5,
    onMessage: (message) => {
      const details = { stack: 'x'.repeat(200_000) };
      const error = new AppError('UNPARSEABLE', 'no JSON', { details });
      void deadLetter(options, message, error).then((stored) => done.push(stored));
    },
  });
  loop.start();
  const large = headers();
  for (let n = 0; n < 6_000; n++) large.append(`H${n}`, '"');
  const size = 8 * 1024 * 1024 - 65_536;
  const scheduler = await broker.connect({ kind: 'scheduler' });
  scheduler.raw.publish('cmd.work.validator.acme.t1', new Uint8Array(size), { headers: large });
  await until(() => done.length === 1, 'put aside');
  expect(done).toEqual([true]);
  const letter = await lastLetter();
  expect(Object.keys(letter.headers)).toHaveLength(6_000);
  expect(letter.error).toEqual({
    code: 'UNPARSEABLE',
    disposition: 'terminal',
    message: 'no JSON',
    details: { bodyCutFromBytes: size },
  });
  await loop.drain();
  publisher.close();
});

async function lastLetter(): Promise<DataOf<typeof DeadLettered>> {
  const message = await (await jsm()).streams.getMessage('DLQ', { last_by_subj: 'dlq.*.*' });
  if (message === null) throw new Error('no letter');
  return decodeMessage([DeadLettered], message.data).envelope.data;
}
