import { startNatsServer } from '@cleanslate/infra';
import { expect, test } from 'vitest';
import { connectBus } from './connect-bus.ts';
import { Publisher } from './publisher.ts';
import { PullLoop } from './pull-loop.ts';
import { PASSWORD, startTestBroker } from './test-broker.ts';
import { until } from './until.ts';

const body = new TextEncoder().encode('{}');

async function setUp() {
  const broker = await startTestBroker(startNatsServer);
  const publisher = new Publisher(await broker.connect({ kind: 'scheduler' }), { ackTimeoutMs: 1_000 });
  const bus = await broker.connect({ kind: 'worker', role: 'analyzer' });
  const seen = new Map<number, number>();
  const loop = new PullLoop(bus, {
    stream: 'COMMANDS',
    durable: 'work-analyzer',
    slots: 3,
    heartbeatMs: 1_000,
    onMessage: (message) => {
      seen.set(message.streamSequence, (seen.get(message.streamSequence) ?? 0) + 1);
      message.ack();
    },
  });
  loop.start();
  let n = 0;
  const send = (count: number) =>
    publisher.publishAll(
      Array.from({ length: count }, () => ({
        stream: 'COMMANDS',
        subject: 'cmd.work.analyzer.acme.t1',
        body,
        messageId: `m-${n++}`,
      })),
    );
  return { broker, bus, loop, seen, send };
}

test('kill -9 of the broker and a restart with its store: pulls are asked for again', async () => {
  const { broker, loop, seen, send } = await setUp();
  await using _ = broker;
  await send(3);
  await until(() => seen.size === 3, 'working');
  await broker.server.kill();
  await until(() => !loop.health().ready, 'not ready while it is away');
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await broker.server.restart();
  await send(10);
  await until(() => seen.size === 13, 'all after the restart');
  expect(loop.health().ready).toBe(true);
  await loop.drain();
});

test('a broker stopped for 10 s (SIGSTOP): no crash, consumption resumes, nothing twice', async () => {
  const { broker, loop, seen, send } = await setUp();
  await using _ = broker;
  await send(3);
  await until(() => seen.size === 3, 'working');
  // An ack that the broker finds only after 10 s comes later than its redelivery.
  await until(() => isAcked(broker), 'acked');
  await broker.server.suspend();
  const sending = send(10);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  await broker.server.resume();
  await sending;
  await until(() => seen.size === 13 && loop.health().ready, 'all');
  expect([...seen.values()].every((times) => times === 1)).toBe(true);
  await loop.drain();
});

async function isAcked({ admin }: Awaited<ReturnType<typeof setUp>>['broker']): Promise<boolean> {
  const info = await admin.raw.request('$JS.API.CONSUMER.INFO.COMMANDS.work-analyzer', '', { timeout: 30_000 });
  return info.json<{ num_ack_pending: number }>().num_ack_pending === 0;
}

test('an event loop blocked for 5 s: no crash, consumption resumes', async () => {
  const { broker, loop, seen, send } = await setUp();
  await using _ = broker;
  const until5s = performance.now() + 5_000;
  while (performance.now() < until5s);
  await send(10);
  await until(() => seen.size === 10 && loop.health().ready, 'all');
  await loop.drain();
});

test('a first connection is waited for, up to the time given', async () => {
  await using broker = await startTestBroker(startNatsServer);
  const options = { servers: broker.server.url, principal: { kind: 'gateway' as const }, password: PASSWORD };
  await broker.server.stop();
  const early = connectBus({ ...options, waitOnFirstConnectMs: 500 });
  await expect(early).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
  const patient = connectBus(options);
  await broker.server.restart();
  const bus = await patient;
  expect(bus.problems()).toEqual([]);
  await bus.close();
  expect(await bus.closed).toBeUndefined();
});

test('a refused password is told at once; a connection that is over for good says so', async () => {
  await using broker = await startTestBroker(startNatsServer);
  const options = { servers: broker.server.url, principal: { kind: 'gateway' as const } };
  await expect(connectBus({ ...options, password: 'not-the-one' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const bus = await broker.connect({ kind: 'gateway' });
  await bus.raw.close();
  expect(await bus.closed).toBeInstanceOf(Error);
  expect(bus.problems()).toEqual(['not connected to the broker']);
});
