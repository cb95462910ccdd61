import { startNatsServer } from '@cleanslate/infra';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Publisher } from './publisher.ts';
import { startTestBroker, type TestBroker } from './test-broker.ts';
import { until } from './until.ts';

type Server = Awaited<ReturnType<typeof startNatsServer>>;
let broker: TestBroker<Server>;
beforeAll(async () => {
  broker = await startTestBroker(startNatsServer);
});
afterAll(() => broker[Symbol.asyncDispose]());

const body = new TextEncoder().encode('{}');
const open: Publisher[] = [];
afterEach(async () => {
  for (const publisher of open.splice(0)) publisher.close();
  const jsm = await manager();
  for (const stream of ['COMMANDS', 'INTAKE', 'REPORTS']) {
    await jsm.streams.update(stream, { max_msgs: -1, max_bytes: 512 * 1024 ** 2 });
    await jsm.streams.purge(stream);
  }
});

const manager = () => jetstreamManager(broker.admin.raw, { checkAPI: false, timeout: 30_000 });
const command = (i: number, run: string) => ({
  stream: 'COMMANDS',
  subject: 'cmd.work.analyzer.acme.t1',
  body,
  messageId: `${run}-${i}`,
});
async function schedulerPublisher(options: ConstructorParameters<typeof Publisher>[1] = {}): Promise<Publisher> {
  const publisher = new Publisher(await broker.connect({ kind: 'scheduler' }), options);
  open.push(publisher);
  return publisher;
}
const stored = async (stream: string) => (await (await manager()).streams.info(stream)).state.messages;

describe('windowed publishing', () => {
  test('stores in order, says the sequence, and tells a repeated message id', async () => {
    const publisher = await schedulerPublisher({ window: 10 });
    const acks = await publisher.publishAll(Array.from({ length: 500 }, (_, i) => command(i, 'order')));
    const first = acks[0]?.seq ?? 0;
    expect(acks.map((ack) => ack.seq)).toEqual(Array.from({ length: 500 }, (_, i) => first + i));
    expect(await publisher.publish(command(3, 'order'))).toEqual({ seq: first + 3, duplicate: true });
    expect(publisher.stats().retried).toBe(0);
  });

  test('what is sent without asking is stored as well, under its message id; what can not be sent throws', async () => {
    const publisher = await schedulerPublisher();
    for (let i = 0; i < 20; i++) publisher.send(command(i, 'sent'));
    await until(async () => (await stored('COMMANDS')) === 20, 'all of them');
    expect(await publisher.publish(command(7, 'sent'))).toMatchObject({ duplicate: true });
    expect(() => publisher.send({ ...command(21, 'sent'), body: new Uint8Array(9 * 1024 ** 2) })).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }),
    );
    publisher.close();
    expect(() => publisher.send(command(22, 'sent'))).toThrow(expect.objectContaining({ code: 'BROKER_UNAVAILABLE' }));
  });

  test('a full stream waits with its messages and delays no other stream', async () => {
    const retries: string[] = [];
    const onRetry = (stream: string, reason: string) => void retries.push(`${stream}: ${reason}`);
    const publisher = await schedulerPublisher({ onRetry, silentAfterMs: 500 });
    await (await manager()).streams.update('COMMANDS', { max_msgs: 5 });
    const full = publisher.publishAll(Array.from({ length: 50 }, (_, i) => command(i, 'full')));
    await until(() => retries.length > 0, 'a refusal');
    const started = performance.now();
    await publisher.publish({ stream: 'EVENTS', subject: 'evt.task.acme.t1', body, messageId: 'other' });
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(retries[0]).toContain('maximum messages exceeded');
    await until(() => publisher.problem() !== undefined, 'a problem by name');
    expect(publisher.problem()).toMatch(
      /^the stream COMMANDS takes nothing for \d+ s \(maximum messages exceeded.*slate doctor/,
    );
    // Probing, not hammering: a window of refusals, then one message per pause.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(retries.length).toBeLessThan(70);
    await (await manager()).streams.update('COMMANDS', { max_msgs: -1 });
    await full;
    expect(publisher.problem()).toBeUndefined();
    expect(await stored('COMMANDS')).toBe(50);
  });

  test('INTAKE answers full to the publisher, at once and per tenant', async () => {
    const publisher = new Publisher(await broker.connect({ kind: 'gateway' }));
    open.push(publisher);
    const jsm = await manager();
    await jsm.streams.update('INTAKE', { max_msgs_per_subject: 3 });
    const submit = (tenant: string, i: number) =>
      publisher.publish({ stream: 'INTAKE', subject: `cmd.task.${tenant}`, body, messageId: crypto.randomUUID() + i });
    for (let i = 0; i < 3; i++) await submit('acme', i);
    await expect(submit('acme', 4)).rejects.toMatchObject({ code: 'TENANT_QUEUE_FULL', disposition: 'retryable' });
    await submit('globex', 1);
    expect(await stored('INTAKE')).toBe(4);
    await jsm.streams.update('INTAKE', { max_msgs_per_subject: 1_000 });
  });

  test('a submit larger than INTAKE takes is refused at once, though the connection would take it', async () => {
    const publisher = new Publisher(await broker.connect({ kind: 'gateway' }));
    open.push(publisher);
    const before = await stored('INTAKE');
    const submit = (bytes: number) =>
      publisher.publish({
        stream: 'INTAKE',
        subject: 'cmd.task.acme',
        messageId: crypto.randomUUID(),
        body: new Uint8Array(bytes),
      });
    await expect(submit(6 * 1024 ** 2 + 1)).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      disposition: 'terminal',
    });
    await submit(5 * 1024 ** 2);
    expect(await stored('INTAKE')).toBe(before + 1);
  });

  test('a body over max_payload is refused and the connection stays up', async () => {
    const publisher = await schedulerPublisher();
    const limit = 8 * 1024 * 1024;
    for (const size of [limit + 1, limit - 10]) {
      const sent = publisher.publish({ ...command(size, 'large'), body: new Uint8Array(size) });
      await expect(sent).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', disposition: 'terminal' });
    }
    await publisher.publish(command(1, 'after-large'));
  });

  test('a missing permission is an error, not a wait', async () => {
    const bus = await broker.connect({ kind: 'worker', role: 'analyzer' });
    const publisher = new Publisher(bus);
    open.push(publisher);
    await expect(publisher.publish(command(1, 'denied'))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test('a subject that another stream listens on is refused where the stream is insisted on', async () => {
    const publisher = await schedulerPublisher();
    const astray = { stream: 'REPORTS', subject: 'evt.task.acme.t1', body, messageId: 'astray', expectStream: true };
    await expect(publisher.publish(astray)).rejects.toMatchObject({ disposition: 'terminal' });
  });

  test('without a stream it waits for one; the signal and the given time end the wait', async () => {
    const publisher = await schedulerPublisher();
    const jsm = await manager();
    const config = (await jsm.streams.info('COMMANDS')).config;
    await jsm.streams.delete('COMMANDS');
    try {
      const late = publisher.publish(command(1, 'late'), { giveUpAfterMs: 300 });
      await expect(late).rejects.toMatchObject({ code: 'BROKER_UNAVAILABLE' });
      const aborted = publisher.publish(command(2, 'late'), { signal: AbortSignal.timeout(300) });
      await expect(aborted).rejects.toThrow(/aborted.*no stream/);
      const waiting = publisher.publish(command(3, 'late'));
      await new Promise((resolve) => setTimeout(resolve, 500));
      await jsm.streams.add(config);
      expect(await waiting).toMatchObject({ duplicate: false });
    } finally {
      await jsm.streams.add(config).catch(() => undefined);
    }
    expect(await stored('COMMANDS')).toBe(1);
  });
});

test('a broker killed under load: every message is stored exactly once', async () => {
  await using own = await startTestBroker(startNatsServer);
  const publisher = new Publisher(await own.connect({ kind: 'scheduler' }), { ackTimeoutMs: 1_000 });
  const messages = Array.from({ length: 30_000 }, (_, i) => command(i, 'kill'));
  const all = publisher.publishAll(messages);
  await until(() => publisher.stats().published > 3_000, 'some of them stored');
  await own.server.kill();
  expect(publisher.stats().published).toBeLessThan(30_000);
  await own.server.restart();
  const acks = await all;
  expect(new Set(acks.map((ack) => ack.seq)).size).toBe(30_000);
  const jsm = await jetstreamManager(own.admin.raw, { checkAPI: false, timeout: 30_000 });
  await until(async () => (await jsm.streams.info('COMMANDS')).state.messages === 30_000, 'the count in the stream');
  publisher.close();
});
