import { startNatsServer } from '@cleanslate/infra';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Publisher } from './publisher.ts';
import { PullLoop } from './pull-loop.ts';
import { startTestBroker, type TestBroker } from './test-broker.ts';
import { until } from './until.ts';

type Server = Awaited<ReturnType<typeof startNatsServer>>;
let broker: TestBroker<Server>;
let publisher: Publisher;
const loops: PullLoop[] = [];
let sent = 0;

beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
  publisher = new Publisher(await broker.connect({ kind: 'scheduler' }), { ackTimeoutMs: 1_000 });
});
afterAll(async () => {
  publisher.close();
  await broker[Symbol.asyncDispose]();
});
afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.drain())));

const send = () =>
  publisher.publishAll([
    {
      stream: 'COMMANDS',
      subject: 'cmd.work.analyzer.acme.t1',
      messageId: `deaf-${sent++}`,
      body: new TextEncoder().encode('{}'),
    },
  ]);

/** A loop whose pull requests are lost on their way while `fault.on`: connected, and nobody pulls. */
async function startDeaf() {
  const bus = await broker.connect({ kind: 'worker', role: 'analyzer' });
  const fault = { on: true, lost: 0 };
  const publish = bus.raw.publish.bind(bus.raw);
  bus.raw.publish = (subject, ...rest) => {
    if (!fault.on || !subject.includes('CONSUMER.MSG.NEXT')) return publish(subject, ...rest);
    fault.lost++;
  };
  const problems: string[] = [];
  let got = 0;
  const loop = new PullLoop(bus, {
    stream: 'COMMANDS',
    durable: 'work-analyzer',
    slots: 2,
    heartbeatMs: 500,
    recheckMs: 300,
    onMessage: (message) => {
      got++;
      message.ack();
    },
    onProblem: (problem) => problems.push(problem),
  });
  loops.push(loop);
  loop.start();
  return { bus, loop, fault, problems, got: () => got };
}

describe('a consumer that has work pending and receives nothing', () => {
  test('rebuilds itself, is unready meanwhile, and recovers', async () => {
    const { bus, loop, fault, problems, got } = await startDeaf();
    await send();
    await until(() => problems.some((problem) => problem.includes('none arrive')), 'starvation seen');
    await until(() => !loop.health().ready, 'unready');
    expect(fault.lost).toBeGreaterThan(1);
    fault.on = false;
    await until(() => got() === 1 && loop.health().ready, 'heard again');
    expect(bus.connected).toBe(true);
  });

  test('ends the process when that does not help: the broker answers, so another process may hear', async () => {
    const { bus, loop, fault, problems } = await startDeaf();
    await send();
    const error = await bus.closed;
    expect(error?.message).toContain('COMMANDS/work-analyzer');
    expect(error?.message).toContain('deaf');
    expect(problems.at(-1)).toContain('deaf');
    expect(fault.lost).toBeGreaterThan(5);
    expect(loop.health().ready).toBe(false);
  });

  test('stays while the broker does not answer, however long that takes', async () => {
    const { bus, loop, fault, got } = await startDeaf();
    await until(() => fault.lost > 0, 'a pull lost');
    await broker.server.suspend();
    let ended = false;
    void bus.closed.then(() => {
      ended = true;
    });
    // Longer than six looks take.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    expect([ended, loop.health().ready]).toEqual([false, false]);
    fault.on = false;
    await broker.server.resume();
    await until(() => got() > 0 || loop.health().ready, 'receiving');
    expect(ended).toBe(false);
  });
});
