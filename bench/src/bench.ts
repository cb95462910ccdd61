import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { checkoutRoot, layOutImage, startPostgres } from '@cleanslate/infra';
import { defineWorkflow } from '@cleanslate/runtime';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { z } from 'zod';
import { assertEffects, readDispatchToStart } from './effects.ts';
import { measureFloor } from './floor.ts';
import { addHistory } from './history.ts';
import { toLatency } from './latency.ts';
import { NoopLoad } from './noop-load.ts';
import { type BenchResult, type Floors, type LoadResult, printResult } from './print-result.ts';
import { type Pids, readCosts, spentBetween, watchMemory } from './process-cost.ts';

/**
 * One run on one machine: the floor of design/70, then the platform as its image runs it, in real processes (a
 * scheduler, a worker per role, TimescaleDB with fsync, NATS with file storage), with steps that do nothing. What
 * it can't tell is in README.md.
 *
 *     node bench/src/bench.ts [--smoke] [--json] [--history FINISHED-TASKS]
 */
const { values } = parseArgs({
  options: { smoke: { type: 'boolean' }, json: { type: 'boolean' }, history: { type: 'string', default: '0' } },
});
const tasks = Number(process.env['TASKS'] ?? (values.smoke ? 1_000 : 10_000));
const singles = values.smoke ? 100 : 300;
const steadySeconds = values.smoke ? 3 : 10;
/** Not counted, before each part and each floor: what runs for hours is compiled by then. */
const warmUp = Math.ceil(tasks / 5);
const ROLES = ['retriever', 'analyzer', 'generator', 'validator'] as const;

/** One step of the chain by itself. */
const single = defineWorkflow({
  name: 'noop-single',
  input: z.strictObject({}),
  steps: { work: { role: 'analyzer', executor: 'bench/noop', after: [], input: {} } },
  result: 'steps.work.output',
});

const dir = await mkdtemp(join(tmpdir(), 'cleanslate-bench-'));
const postgres = await startPostgres({ dir, durable: true });
try {
  tell('floor');
  const floor = await measureFloor(dir, postgres, { tasks, warmUp }, 'stock');
  tell('floor with our own client');
  const hardFloor = await measureFloor(dir, postgres, { tasks, warmUp }, 'own');
  const workflows = join(dir, 'workflows');
  await mkdir(workflows);
  await writeFile(join(workflows, 'noop-single.json'), JSON.stringify(single.plan));
  tell('the bundles of the image');
  const { dist } = await layOutImage(join(dir, 'image'));
  await using platform = await startPlatform({
    postgresAdminUrl: postgres.adminUrl,
    services: [],
    env: { SLOTS: process.env['SLOTS'] ?? '200', LOG_LEVEL: 'info', WORKFLOWS_DIR: workflows },
  });
  // A container keeps no compiled code from one start to the next.
  for (const name of ['scheduler', ...ROLES] as const)
    await platform.start(name, { NODE_DISABLE_COMPILE_CACHE: '1' }, join(dist, `${name}.mjs`));
  printResult(await measurePlatform(platform, { floor, hardFloor }), values.json === true);
  // In good order, so that what the bench's own workers compiled is kept for the next start.
  await Promise.all(platform.services.filter(({ exit }) => exit === undefined).map((service) => service.stop()));
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

async function measurePlatform(platform: Platform, floors: Floors): Promise<BenchResult> {
  const load = new NoopLoad(await platform.client());
  const ratio = (result: LoadResult) => ({
    ...result,
    ratioToFloor: result.tasksPerSecond / floors.floor.tasksPerSecond,
    ratioToHardFloor: result.tasksPerSecond / floors.hardFloor.tasksPerSecond,
  });
  const done = { tasks: 0, steps: 0 };
  const flood = async (workflow: string, count: number, steps: number): Promise<LoadResult> => {
    await load.flood(workflow, warmUp);
    const pids = pidsOf(platform);
    const before = readCosts(pids);
    const memory = watchMemory(pids);
    const { seconds } = await load.flood(workflow, count);
    const memoryMb = memory();
    const cpuMsPerTask = spentBetween(before, readCosts(pids), count);
    done.tasks += warmUp + count;
    done.steps += (warmUp + count) * steps;
    await assertEffects(platform, done);
    return { tasks: count, tasksPerSecond: count / seconds, cpuMsPerTask, memoryMb };
  };
  tell('chain of four steps');
  const chain4 = ratio(await flood('noop', tasks, 4));
  tell('single steps');
  const single1 = await flood('noop-single', tasks, 1);
  tell('latency, one at a time');
  const low = await load.oneByOne('noop', singles);
  const dispatchToStart = await readDispatchToStart(platform, singles);
  tell('latency at half of the peak');
  const perSecond = Math.round(chain4.tasksPerSecond / 2);
  const steady = await load.steadily('noop', perSecond, steadySeconds);
  done.tasks += low.length + steady.length;
  done.steps += 4 * (low.length + steady.length);
  await assertEffects(platform, done);
  const finished = Number(values.history);
  if (finished > 0) tell(`chain of four steps behind ${finished} finished tasks`);
  const behindHistory = finished > 0 ? await measureBehindHistory(finished) : undefined;
  tell('chain of four steps that are claimed first');
  await replaceWorkers(platform);
  const chain4Claimed = ratio(await flood('noop', Math.ceil(tasks / 2), 4));
  const claimedLow = await load.oneByOne('noop', singles);
  return {
    ...floors,
    ...(behindHistory === undefined ? {} : { behindHistory }),
    chain4,
    chain4Claimed: { ...chain4Claimed, latencyMs: toLatency(claimedLow) },
    single: single1,
    latencyMs: { low: toLatency(low), halfOfPeak: { perSecond, ...toLatency(steady) }, dispatchToStart },
    machine: { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.version },
  };

  async function measureBehindHistory(finishedTasks: number) {
    await addHistory(platform, finishedTasks);
    const result = ratio(await flood('noop', tasks, 4));
    const latencies = await load.oneByOne('noop', singles);
    done.tasks += latencies.length;
    done.steps += 4 * latencies.length;
    return { ...result, finishedTasks, latencyMs: toLatency(latencies) };
  }
}

/** Workers of the bench itself, whose `bench/noop` is not pure. */
async function replaceWorkers(platform: Platform): Promise<void> {
  const old = platform.services.filter(({ name }) => name !== 'scheduler');
  await Promise.all(old.map((service) => service.stop()));
  const entry = join(checkoutRoot, 'bench', 'src', 'noop-worker-main.ts');
  await Promise.all(ROLES.map((role) => platform.start(role, { ROLE: role }, entry)));
}

function pidsOf({ services, broker }: Platform): Pids {
  const running = services.filter(({ exit }) => exit === undefined);
  return {
    ...Object.fromEntries(running.map(({ name, pid }) => [name, pid])),
    nats: broker.server.pid,
    postgres: postgres.pid,
  };
}

function tell(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}
