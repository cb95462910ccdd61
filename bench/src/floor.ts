import { join } from 'node:path';
import { type Bus, request } from '@cleanslate/bus';
import { checkoutRoot, startNatsServer, startService } from '@cleanslate/infra';
import pg from 'pg';
import type { FloorClient } from './floor-link.ts';
import { COMMANDS, connectFloor, EVENTS, RUN } from './floor-wire.ts';
import { type Latency, toLatency } from './latency.ts';
import { readCosts, spentBetween } from './process-cost.ts';

const SINGLES = 100;
const RUN_MS = 120_000;

export type FloorResult = {
  readonly tasksPerSecond: number;
  readonly cpuMsPerTask: Readonly<Record<string, number>>;
  readonly latencyMs: Latency;
};

/**
 * What the same machine does at the same time with nothing but the essentials (design/70): a scheduler and an
 * executor process, four commands and four events a task, strict zod, a log line a step, state by batched
 * compare-and-set in PostgreSQL with fsync. `stock` sends and takes as the client's documentation shows it, `own`
 * with the platform's publisher and pull loop.
 */
export async function measureFloor(
  dir: string,
  postgres: { readonly adminUrl: string; readonly pid: number },
  { tasks, warmUp }: { readonly tasks: number; readonly warmUp: number },
  client: FloorClient,
): Promise<FloorResult> {
  await using nats = await startNatsServer({ dir: join(dir, `floor-nats-${client}`) });
  await using bus = await connectFloor(nats.url);
  await makeStreams(bus);
  const pool = new pg.Pool({ connectionString: postgres.adminUrl, max: 1 });
  await pool.query('CREATE TABLE floor_tasks (id text PRIMARY KEY, step int NOT NULL)');
  const start = (name: string) =>
    startService({
      name,
      entry: join(checkoutRoot, 'bench', 'src', `${name}-main.ts`),
      env: { NATS_URL: nats.url, DATABASE_URL: postgres.adminUrl, FLOOR_CLIENT: client },
      waitReady: false,
    });
  await using executor = await start('floor-executor');
  await using scheduler = await start('floor-scheduler');
  try {
    await waitForScheduler(bus);
    await run(bus, warmUp);
    const pids = { scheduler: scheduler.pid, executor: executor.pid, nats: nats.pid, postgres: postgres.pid };
    const before = readCosts(pids);
    const startedAt = performance.now();
    await run(bus, tasks);
    const seconds = (performance.now() - startedAt) / 1_000;
    const cpuMsPerTask = spentBetween(before, readCosts(pids), tasks);
    const singles: number[] = [];
    for (let i = 0; i < SINGLES; i++) singles.push(await run(bus, 1));
    return { tasksPerSecond: tasks / seconds, cpuMsPerTask, latencyMs: toLatency(singles) };
  } finally {
    await pool.query('DROP TABLE floor_tasks');
    await pool.end();
  }
}

async function run(bus: Bus, tasks: number): Promise<number> {
  const startedAt = performance.now();
  await request(bus, RUN, Buffer.from(JSON.stringify({ tasks })), { timeoutMs: RUN_MS });
  return performance.now() - startedAt;
}

async function waitForScheduler(bus: Bus): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    try {
      await run(bus, 1);
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function makeStreams(bus: Bus): Promise<void> {
  for (const { stream, subject, durable } of [COMMANDS, EVENTS]) {
    await bus.raw.request(
      `$JS.API.STREAM.CREATE.${stream}`,
      JSON.stringify({ name: stream, subjects: [subject], retention: 'workqueue', storage: 'file', discard: 'new' }),
    );
    const config = { durable_name: durable, ack_policy: 'explicit', max_ack_pending: 20_000 };
    await bus.raw.request(
      `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
      JSON.stringify({ stream_name: stream, config }),
    );
  }
}
