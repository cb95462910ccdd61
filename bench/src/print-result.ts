import type { FloorResult } from './floor.ts';
import type { Latency } from './latency.ts';

export type LoadResult = {
  readonly tasks: number;
  readonly tasksPerSecond: number;
  readonly cpuMsPerTask: Readonly<Record<string, number>>;
  /** Highest of the run. */
  readonly memoryMb: Readonly<Record<string, number>>;
};

export type Floors = {
  /** As design/70 measured it: with the client as its documentation shows it. */
  readonly floor: FloorResult;
  /** The same program on the platform's own publisher and pull loop. */
  readonly hardFloor: FloorResult;
};

type Ratios = { readonly ratioToFloor: number; readonly ratioToHardFloor: number };

export type BenchResult = Floors & {
  readonly chain4: LoadResult & Ratios;
  /** The same with executors that are not `pure`. */
  readonly chain4Claimed: LoadResult & Ratios & { readonly latencyMs: Latency };
  /** The first again, behind so many finished tasks; only with `--history`. */
  readonly behindHistory?: BenchResult['chain4Claimed'] & { readonly finishedTasks: number };
  /** Tasks of one step. */
  readonly single: LoadResult;
  readonly latencyMs: {
    readonly low: Latency;
    readonly halfOfPeak: Latency & { readonly perSecond: number };
    readonly dispatchToStart: Latency;
  };
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
};

/** The whole result as JSON, or a table for people. */
export function printResult(result: BenchResult, json: boolean): void {
  process.stdout.write(json ? `${JSON.stringify(result, roundNumbers, 2)}\n` : toTable(result));
}

function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 100) / 100 : value;
}

function toTable({
  floor,
  hardFloor,
  chain4,
  chain4Claimed,
  behindHistory,
  single,
  latencyMs,
  machine,
}: BenchResult): string {
  const rate = (perSecond: number) => Math.round(perSecond).toString();
  const ms = ({ p50, p95, p99 }: Latency) => `${p50.toFixed(1)} / ${p95.toFixed(1)} / ${p99.toFixed(1)}`;
  const cpu = (costs: Readonly<Record<string, number>>) =>
    Object.entries(costs)
      .map(([name, value]) => `${name} ${value.toFixed(2)}`)
      .join(', ');
  const ratios = ({ ratioToFloor, ratioToHardFloor }: Ratios) =>
    `${ratioToFloor.toFixed(2)} of the floor, ${ratioToHardFloor.toFixed(2)} of the hard one`;
  const memory = Object.entries(chain4.memoryMb).map(([name, mb]) => `${name} ${Math.round(mb)}`);
  return `${[
    `${machine.cpus} × ${machine.model}, Node ${machine.node}; ${chain4.tasks} tasks`,
    '',
    `floor                 ${rate(floor.tasksPerSecond)} tasks/s, ${ms(floor.latencyMs)} ms (p50 / p95 / p99, one at a time)`,
    `hard floor            ${rate(hardFloor.tasksPerSecond)} tasks/s, ${ms(hardFloor.latencyMs)} ms`,
    `chain of 4, pure      ${rate(chain4.tasksPerSecond)} tasks/s, ${ratios(chain4)}`,
    `chain of 4, claimed   ${rate(chain4Claimed.tasksPerSecond)} tasks/s, ${ratios(chain4Claimed)}`,
    ...(behindHistory === undefined
      ? []
      : [
          `chain of 4, pure, behind ${behindHistory.finishedTasks} finished tasks: ${rate(behindHistory.tasksPerSecond)} tasks/s, ${ms(behindHistory.latencyMs)} ms, CPU ${cpu(behindHistory.cpuMsPerTask)}`,
        ]),
    `single steps          ${rate(single.tasksPerSecond)} tasks/s`,
    '',
    `latency of a chain of 4, p50 / p95 / p99 ms`,
    `  one at a time       ${ms(latencyMs.low)}; claimed: ${ms(chain4Claimed.latencyMs)}`,
    `  at ${latencyMs.halfOfPeak.perSecond} a second    ${ms(latencyMs.halfOfPeak)}`,
    `  a step, dispatched to claimed  ${ms(latencyMs.dispatchToStart)}`,
    '',
    `CPU ms a task, floor    ${cpu(floor.cpuMsPerTask)}`,
    `CPU ms a task, hard     ${cpu(hardFloor.cpuMsPerTask)}`,
    `CPU ms a task, pure     ${cpu(chain4.cpuMsPerTask)}`,
    `CPU ms a task, claimed  ${cpu(chain4Claimed.cpuMsPerTask)}`,
    `highest memory, MB      ${memory.join(', ')}`,
  ].join('\n')}\n`;
}
