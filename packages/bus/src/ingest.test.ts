import { STREAMS } from '@cleanslate/contracts';
import { startNatsServer } from '@cleanslate/infra';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applyTopology, diffTopology } from './apply-topology.ts';
import type { Bus } from './bus.ts';
import { encodeHeaders } from './headers.ts';
import { Ingest } from './ingest.ts';
import { Publisher } from './publisher.ts';
import { startTestBroker, TEST_ROLES, type TestBroker } from './test-broker.ts';
import { streamSettings } from './topology.ts';
import { until } from './until.ts';

type Server = Awaited<ReturnType<typeof startNatsServer>>;
let broker: TestBroker<Server>;
let bus: Bus;
let publisher: Publisher;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());
afterEach(async () => {
  publisher.close();
  const jsm = await manager();
  await jsm.streams.update('EVENTS', { max_msgs: -1, allow_batched: true });
  await jsm.streams.purge('EVENTS');
});

const LIMIT = { giveUpAfterMs: 30_000 };
const manager = (admin = broker.admin) => jetstreamManager(admin.raw, { checkAPI: false, timeout: 30_000 });
const event = (n: number) => ({
  stream: 'EVENTS',
  subject: `evt.task.acme.t${n % 7}`,
  body: new TextEncoder().encode(`{"n":${n}}`),
  messageId: `${epoch}.${n}`,
});
/** A stream that was emptied still knows the ids of what it held. */
let epoch = 0;
beforeEach(() => {
  epoch++;
});
const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => event(from + i));
async function connect(options: ConstructorParameters<typeof Publisher>[1] = {}) {
  bus = await broker.connect({ kind: 'scheduler' });
  publisher = new Publisher(bus, options);
}
/** What the stream holds, in its order. */
async function stored(admin = broker.admin): Promise<readonly number[]> {
  const jsm = await manager(admin);
  const { first_seq, last_seq } = (await jsm.streams.info('EVENTS')).state;
  const found: number[] = [];
  for (let seq = first_seq; seq <= last_seq; seq++)
    found.push((await jsm.streams.getMessage('EVENTS', { seq }))?.json<{ n: number }>().n ?? Number.NaN);
  return found;
}
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
describe('runs of messages', () => {
  test('are stored in order under one answer; what was there before is not stored again', async () => {
    await connect();
    await publisher.publishRun(events(1, 200), LIMIT);
    await publisher.publishRun(events(101, 600), LIMIT);
    expect(await stored()).toEqual(numbers(1, 600));
    expect(publisher.stats()).toMatchObject({ published: 700, retried: 0 });
    // Nothing of it went the way of single messages, which have a queue for each stream.
    expect(publisher.stats().waiting.size).toBe(0);
  });

  test('a few, or more than one run may have, go one by one', async () => {
    await connect();
    await publisher.publishRun(events(1, 3), LIMIT);
    await publisher.publishRun(events(4, 700), LIMIT);
    expect(await stored()).toEqual(numbers(1, 700));
    expect(publisher.stats().waiting.get('EVENTS')).toBe(0);
  });

  test('where the stream takes none they go one by one, and no run is tried for a while', async () => {
    await connect();
    await (await manager()).streams.update('EVENTS', { allow_batched: false });
    await publisher.publishRun(events(1, 100), LIMIT);
    expect(publisher.stats().waiting.get('EVENTS')).toBe(0);
    await (await manager()).streams.update('EVENTS', { allow_batched: true });
    await publisher.publishRun(events(101, 200), LIMIT);
    expect(await stored()).toEqual(numbers(1, 200));
    expect(publisher.stats()).toMatchObject({ published: 200, retried: 0 });
  });

  test('a stream that fills up in the middle: a prefix is stored, the error names the reason, the repetition adds the rest', async () => {
    await connect();
    await (await manager()).streams.update('EVENTS', { max_msgs: 50 });
    await expect(publisher.publishRun(events(1, 120), { giveUpAfterMs: 1_500 })).rejects.toMatchObject({
      code: 'BROKER_UNAVAILABLE',
      message: expect.stringContaining('maximum messages exceeded'),
    });
    expect(await stored()).toEqual(numbers(1, 50));
    await (await manager()).streams.update('EVENTS', { max_msgs: -1 });
    await publisher.publishRun(events(1, 120), LIMIT);
    expect(await stored()).toEqual(numbers(1, 120));
  });

  test('a message that can not be sent is refused before anything of its run is', async () => {
    await connect();
    const large = { ...event(60), body: new Uint8Array(9 * 1024 ** 2) };
    await expect(publisher.publishRun([...events(1, 59), large], LIMIT)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(await stored()).toEqual([]);
  });

  test('two runs at a time: one of them goes message by message, and all are stored once', async () => {
    await connect();
    await Promise.all([publisher.publishRun(events(1, 300), LIMIT), publisher.publishRun(events(301, 600), LIMIT)]);
    expect([...(await stored())].sort((a, b) => a - b)).toEqual(numbers(1, 600));
  });

  test('a publisher that is closed ends its run with an error', async () => {
    await connect();
    const run = publisher.publishRun(events(1, 100), LIMIT);
    publisher.close();
    await expect(run).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
    await bus.flush();
    expect(await stored()).toEqual([]);
  });

  test('a stream that was silent is not any more once a run is stored', async () => {
    await connect({ silentAfterMs: 200 });
    await (await manager()).streams.update('EVENTS', { max_msgs: 1 });
    await publisher.publish(event(1));
    await expect(publisher.publish(event(2), { giveUpAfterMs: 1_000 })).rejects.toThrow('maximum messages exceeded');
    expect(publisher.problem()).toContain('the stream EVENTS takes nothing');
    await (await manager()).streams.update('EVENTS', { max_msgs: -1 });
    await publisher.publishRun(events(2, 20), LIMIT);
    expect(publisher.problem()).toBeUndefined();
  });
});

/** A broker without streams, where the test answers what is published. */
describe('what a broker may answer', () => {
  type Answers = (reply: string, run: { readonly id: string; readonly place: number }) => void;
  let bare: TestBroker<Server>;
  let answers: Answers;
  let starts = 0;
  const retries: string[] = [];
  beforeEach(async () => {
    bare = await startTestBroker(startNatsServer, { topology: false, config: '' });
    starts = 0;
    retries.length = 0;
    bare.admin.raw.subscribe('evt.task.*.*', {
      callback: (_, { reply = '' }) => {
        const [id = '', , , place = '', part = ''] = reply.split('.').slice(2);
        if (!reply.endsWith('.$FI')) return say(reply, { stream: 'EVENTS', seq: 1 });
        if (part === '0') starts++;
        answers(reply, { id, place: Number(place) });
      },
    });
    await bare.admin.raw.flush();
    bus = await bare.connect({ kind: 'scheduler' });
    publisher = new Publisher(bus, { ackTimeoutMs: 500, onRetry: (_, reason) => void retries.push(reason) });
  });
  afterEach(() => bare[Symbol.asyncDispose]());
  const say = (reply: string, answer: object | string) =>
    bare.admin.raw.publish(reply, typeof answer === 'string' ? answer : JSON.stringify(answer));
  const COUNT = 20;
  const whole = (id: string) => ({ stream: 'EVENTS', seq: COUNT, batch: id, count: COUNT });
  const atEnd = (answer: (id: string) => object | string): Answers => {
    return (reply, { id, place }) => {
      if (place === COUNT) say(reply, answer(id));
    };
  };

  test('the number of the run, under its id, for its last message: it is stored', async () => {
    answers = (reply, { id, place }) => {
      if (place === 1) say(reply, { type: 'ack', seq: 0, msgs: 500 });
      if (place === COUNT) say(reply, whole(id));
    };
    await publisher.publishRun(events(1, COUNT), LIMIT);
    expect(publisher.stats()).toMatchObject({ published: COUNT, waiting: new Map() });
    expect(retries).toEqual([]);
  });

  const PROVES_NOTHING: readonly (readonly [string, Answers, string])[] = [
    ['a smaller number', atEnd((id) => ({ ...whole(id), count: COUNT - 1 })), '"count":19'],
    ['the number of another run', atEnd(() => whole('another')), '"batch":"another"'],
    [
      'the number, but for the first message',
      (reply, { id, place }) => place === 1 && say(reply, whole(id)),
      '"count":20',
    ],
    [
      // As seen where a run with the same id was open already.
      'a gap, and then the number',
      (reply, { id, place }) => {
        if (place === 1) say(reply, { type: 'gap', last_seq: 10, seq: 1 });
        if (place === COUNT) say(reply, whole(id));
      },
      '"type":"gap"',
    ],
    [
      'a refusal',
      atEnd(() => ({ error: { code: 400, err_code: 10205, description: 'batch publish is disabled' } })),
      'batch publish is disabled',
    ],
    [
      'an ordinary PubAck for each message, as from a server that knows no runs',
      (reply) => say(reply, { stream: 'EVENTS', seq: 1 }),
      '"seq":1',
    ],
    ['something else', atEnd(() => '-ERR'), 'not JSON'],
    ['nothing', () => undefined, 'not answered in time'],
  ];
  test.each(PROVES_NOTHING)(
    '%s: the run goes message by message, and no other one is tried for now',
    async (_, given, reason) => {
      answers = given;
      await publisher.publishRun(events(1, COUNT), LIMIT);
      await publisher.publishRun(events(21, 40), LIMIT);
      expect(publisher.stats()).toMatchObject({ published: 40, retried: 0, waiting: new Map([['EVENTS', 0]]) });
      expect(retries).toEqual([expect.stringContaining(reason)]);
      expect(starts).toBe(1);
    },
  );

  test('a late answer to one run says nothing of the next; there is one at a time', async () => {
    const ingest = new Ingest(bus);
    const messages = events(1, COUNT).map(({ subject, body }) => ({
      subject,
      body,
      headers: encodeHeaders({}).headers,
    }));
    const late: (() => void)[] = [];
    answers = (reply, { id, place }) => {
      if (place === COUNT) late.push(() => say(reply, whole(id)));
    };
    const early = ingest.send(messages, 50);
    expect(ingest.isReady).toBe(false);
    expect(await early).toBe('not answered in time');
    const [first] = late.splice(0);
    const second = ingest.send(messages, 30_000);
    await until(() => late.length === 1, 'the second run');
    first?.();
    await bare.admin.raw.flush();
    await bus.flush();
    let ended = false;
    void second.then(() => {
      ended = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    late[0]?.();
    expect(await second).toBeUndefined();
    ingest.close();
  });

  test('a connection that breaks ends the run at once', async () => {
    const ingest = new Ingest(bus);
    const heard = Promise.withResolvers<void>();
    answers = () => heard.resolve();
    const messages = events(1, COUNT).map(({ subject, body }) => ({
      subject,
      body,
      headers: encodeHeaders({}).headers,
    }));
    const run = ingest.send(messages, 600_000);
    await heard.promise;
    await bare.server.kill();
    expect(await run).toBe('disconnected');
    ingest.close();
  });
});

test('a broker killed between and amid runs: each message is stored once, in order', async () => {
  await using own = await startTestBroker(startNatsServer);
  publisher = new Publisher(await own.connect({ kind: 'scheduler' }), { ackTimeoutMs: 1_000 });
  let sent = 0;
  let ended = false;
  const all = (async () => {
    while (!ended || sent < 2_000) {
      // As the relay of events does: a run is repeated until it is known to be stored.
      const run = events(sent + 1, sent + 100);
      for (let isStored = false; !isStored; )
        isStored = await publisher.publishRun(run, { giveUpAfterMs: 500 }).then(
          () => true,
          () => false,
        );
      sent += 100;
    }
  })();
  await until(() => sent > 500, 'some of them stored');
  await own.server.kill();
  await own.server.restart();
  await until(() => publisher.stats().published > 1_000, 'more of them stored');
  ended = true;
  await all;
  await until(() => own.admin.connected, 'the other connection');
  expect(await stored(own.admin)).toEqual(numbers(1, sent));
});

test('a server is asked for runs only where it knows them', async () => {
  await connect();
  const events = STREAMS.find(({ name }) => name === 'EVENTS');
  if (events === undefined) throw new Error('no stream of events');
  const fields = (level: number) => streamSettings(events, 1, level).map(({ field }) => field);
  expect(fields(3)).not.toContain('allow_batched');
  expect(fields(4)).toContain('allow_batched');
  const jsm = await manager();
  const takers = await Promise.all(STREAMS.map(async ({ name }) => (await jsm.streams.info(name)).config));
  expect(takers.filter(({ allow_batched }) => allow_batched).map(({ name }) => name)).toEqual(['EVENTS']);
  await jsm.streams.update('EVENTS', { allow_batched: false });
  expect(await diffTopology(broker.admin, { roles: TEST_ROLES })).toMatchObject([
    { what: 'stream EVENTS', field: 'allow_batched', repairable: true },
  ]);
  await applyTopology(broker.admin, { roles: TEST_ROLES });
  expect(await diffTopology(broker.admin, { roles: TEST_ROLES })).toEqual([]);
});
