import { Envelope } from '@cleanslate/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bearer, type GatewayPlatform, startWithGateway } from './platform.ts';
import { readServerSentEvents } from './sse.ts';

let world: GatewayPlatform;
beforeEach(async () => {
  world = await startWithGateway(['scheduler', 'gateway', 'retriever', 'analyzer']);
});
afterEach(async () => {
  await world?.platform[Symbol.asyncDispose]();
});

/** A reader that comes back with the last id it saw, as EventSource does. */
class Reader {
  readonly seen: Envelope[] = [];
  readonly #taskId: string;
  lastId: string | undefined;

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  async open(signal?: AbortSignal): Promise<Response> {
    const headers = { ...bearer(), ...(this.lastId === undefined ? {} : { 'last-event-id': this.lastId }) };
    return await fetch(`${world.url()}/v1/tasks/${this.#taskId}/events`, { headers, ...(signal ? { signal } : {}) });
  }

  /** Reads until `enough`, or the end; then the connection is cut. */
  async read(enough: (event: Envelope) => boolean): Promise<void> {
    const cut = new AbortController();
    for await (const { id, data } of readServerSentEvents(await this.open(cut.signal))) {
      if (id === undefined) continue;
      this.lastId = id;
      const event = Envelope.parse(JSON.parse(data));
      this.seen.push(event);
      if (enough(event)) break;
    }
    cut.abort();
  }
}

const stepEnded = (stepId: string) => (event: Envelope) =>
  event.type === 'step.transitioned.v1' && event.stepid === stepId;

async function committed(taskId: string): Promise<string[]> {
  const rows = await world.platform.database.sql<{ position: number }>(
    'SELECT position FROM ledger.events WHERE task_id = $1 ORDER BY position',
    [taskId],
  );
  return rows.map((row) => String(row.position));
}

test('a connection cut mid-way, a gateway killed mid-way: with Last-Event-ID nothing is lost or repeated', async () => {
  const { platform } = world;
  const client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  const reader = new Reader(taskId);

  // Cut while the task goes on: the analyzer's events come while nobody reads.
  await reader.read(stepEnded('retrieve'));
  await expect.poll(async () => (await client.task(taskId)).steps[1]?.phase).toBe('done');

  // The gateway dies while the stream is open; the generator works without any gateway.
  const reading = reader.read(() => false).catch(() => undefined);
  await expect.poll(() => reader.seen.at(-1)?.stepid).toBe('analyze');
  await platform.service('gateway').kill('SIGKILL');
  await reading;
  await platform.start('generator');
  await expect
    .poll(
      async () =>
        (await platform.database.sql(`SELECT FROM ledger.steps WHERE step_id = 'generate' AND phase = 'done'`)).length,
    )
    .toBe(1);

  await platform.start('gateway');
  await platform.start('validator');
  await reader.read(() => false);
  expect(reader.seen.at(-1)).toMatchObject({ type: 'task.transitioned.v1', data: { to: 'completed' } });
  expect(reader.seen.map((event) => event.sequence)).toEqual(await committed(taskId));

  // Nothing is left: 204 tells EventSource not to come back.
  expect((await reader.open()).status).toBe(204);
});

test('two readers at once, one of them late and slow, see the same; the stream ends with the task', async () => {
  const client = await world.platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  const [early, late] = [new Reader(taskId), new Reader(taskId)];
  const reading = early.read(() => false);
  await world.platform.start('generator');
  const lateReading = late.read(() => false);
  await world.platform.start('validator');
  await Promise.all([reading, lateReading]);
  expect(early.seen.map((event) => event.sequence)).toEqual(await committed(taskId));
  expect(late.seen).toEqual(early.seen);
});

test('a drained gateway ends its streams at once', async () => {
  const client = await world.platform.client();
  const { taskId } = await client.submit({ workflow: 'noop', input: {} });
  const reader = new Reader(taskId);
  const reading = reader.read(() => false);
  await expect.poll(() => reader.seen.length).toBeGreaterThan(0);
  const exit = await world.platform.service('gateway').stop(60_000);
  await reading;
  expect(exit.code).toBe(0);
});
