import { startNatsServer } from '@cleanslate/infra';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { applyTopology } from './apply-topology.ts';
import { Publisher } from './publisher.ts';
import { PullLoop, type PullLoopOptions } from './pull-loop.ts';
import type { PulledMessage } from './pulled-message.ts';
import { startTestBroker, TEST_ROLES, type TestBroker } from './test-broker.ts';
import { until } from './until.ts';

type Server = Awaited<ReturnType<typeof startNatsServer>>;
let broker: TestBroker<Server>;
let publisher: Publisher;
const loops: PullLoop[] = [];
const body = new TextEncoder().encode('{}');
let sent = 0;

beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
  publisher = new Publisher(await broker.connect({ kind: 'scheduler' }), { ackTimeoutMs: 1_000 });
});
afterAll(async () => {
  publisher.close();
  await broker[Symbol.asyncDispose]();
});
afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.drain()));
  await (await manager()).streams.purge('COMMANDS');
});

const manager = () => jetstreamManager(broker.admin.raw, { checkAPI: false, timeout: 30_000 });
const send = (n: number) =>
  publisher.publishAll(
    Array.from({ length: n }, () => ({
      stream: 'COMMANDS',
      subject: 'cmd.work.analyzer.acme.t1',
      body,
      messageId: `m-${sent++}`,
    })),
  );
async function startLoop(onMessage: (message: PulledMessage) => void, options: Partial<PullLoopOptions> = {}) {
  const bus = await broker.connect({ kind: 'worker', role: 'analyzer' });
  const problems: string[] = [];
  const loop = new PullLoop(bus, {
    stream: 'COMMANDS',
    durable: 'work-analyzer',
    slots: 4,
    onMessage,
    heartbeatMs: 500,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  loops.push(loop);
  loop.start();
  return { loop, bus, problems };
}

describe('slots', () => {
  test('never more messages in hand than slots, and every one of them is delivered once', async () => {
    const seen = new Set<number>();
    let inHand = 0;
    let most = 0;
    let deliveries = 0;
    await startLoop(
      (message) => {
        deliveries++;
        most = Math.max(most, ++inHand);
        seen.add(message.streamSequence);
        setTimeout(() => {
          inHand--;
          message.ack();
        }, 2);
      },
      { slots: 7 },
    );
    await send(500);
    await until(() => seen.size === 500 && inHand === 0, 'all handled');
    expect(most).toBe(7);
    expect(deliveries).toBe(500);
  });

  test('nothing is prefetched: what is not in hand stays with the server', async () => {
    const taken: PulledMessage[] = [];
    await startLoop((message) => taken.push(message), { slots: 3 });
    await send(20);
    await until(() => taken.length === 3, 'three taken');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const info = await (await manager()).consumers.info('COMMANDS', 'work-analyzer');
    expect([taken.length, info.num_ack_pending, info.num_pending]).toEqual([3, 3, 17]);
  });

  test('a slot held until release is not freed by the ack', async () => {
    const taken: PulledMessage[] = [];
    await startLoop(
      (message) => {
        taken.push(message);
        message.ack();
      },
      { slots: 2, freeOn: 'release' },
    );
    await send(4);
    await until(() => taken.length === 2, 'two taken');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(taken.length).toBe(2);
    taken[0]?.release();
    taken[0]?.release();
    await until(() => taken.length === 3, 'one more, not two');
  });

  test('nak delays the next delivery; a handler that throws hands the message back', async () => {
    const at: number[] = [];
    const { problems } = await startLoop((message) => {
      at.push(performance.now());
      if (message.deliveries === 1) message.nak(700);
      else message.ack();
    });
    await send(1);
    await until(() => at.length === 2, 'a second delivery');
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(600);
    expect(problems).toEqual([]);
  });
});

describe('the consumer goes away', () => {
  test('durable deleted, then the stream: not ready meanwhile, consumption resumes', async () => {
    let got = 0;
    const { loop } = await startLoop((message) => {
      got++;
      message.ack();
    });
    await send(5);
    await until(() => got === 5 && loop.health().ready, 'working');
    const jsm = await manager();
    for (const remove of [
      () => jsm.consumers.delete('COMMANDS', 'work-analyzer'),
      () => jsm.streams.delete('COMMANDS'),
    ]) {
      await remove();
      await until(() => !loop.health().ready, 'not ready');
      expect(loop.health().problem).toBeTruthy();
      await applyTopology(broker.admin, { roles: TEST_ROLES });
      got = 0;
      await send(5);
      await until(() => got === 5 && loop.health().ready, 'consuming again');
    }
  });

  test('a purge under consumption: acks of purged messages are harmless, new ones flow', async () => {
    const taken: PulledMessage[] = [];
    await startLoop((message) => taken.push(message), { slots: 5 });
    await send(25);
    await until(() => taken.length === 5, 'five in flight');
    await (await manager()).streams.purge('COMMANDS');
    for (const message of taken.splice(0)) message.ack();
    await send(5);
    await until(() => taken.length === 5, 'new messages');
  });

  test('pending work that others hold up to max_ack_pending is told, not waited for in silence', async () => {
    const jsm = await manager();
    // Held for as long as it takes to notice.
    await jsm.consumers.update('COMMANDS', 'work-analyzer', { max_ack_pending: 2, ack_wait: 60_000_000_000 });
    const { loop } = await startLoop(() => undefined, { slots: 4 });
    await send(5);
    await until(() => String(loop.health().problem).includes('max_ack_pending'), 'the problem named');
    expect(loop.health().ready).toBe(false);
    await jsm.consumers.update('COMMANDS', 'work-analyzer', { max_ack_pending: 20_000 });
    await until(() => loop.health().ready, 'ready');
  });
});

test('drain hands back what was on its way and leaves what is in hand to the caller', async () => {
  const taken: PulledMessage[] = [];
  const { loop } = await startLoop((message) => taken.push(message), { slots: 2 });
  await send(2);
  await until(() => taken.length === 2, 'both taken');
  await loop.drain();
  taken[0]?.ack();
  taken[1]?.nak();
  const again: PulledMessage[] = [];
  await startLoop((message) => again.push(message));
  await until(() => again.length === 1, 'the one handed back');
  expect(again[0]?.deliveries).toBe(2);
});

test('a stored message that looks like a status of the server is a message', async () => {
  const taken: PulledMessage[] = [];
  const { loop } = await startLoop((message) => {
    taken.push(message);
    message.ack();
  });
  const raw = (await broker.connect({ kind: 'scheduler' })).raw;
  const { headers } = await import('@nats-io/nats-core');
  raw.publish('cmd.work.analyzer.acme.t1', '', { headers: headers(409, 'Consumer Deleted') });
  await until(() => taken.length === 1, 'delivered');
  expect(loop.health().ready).toBe(true);
});
