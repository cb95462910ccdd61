import type { TestBroker } from '@cleanslate/bus/testing';
import { z } from 'zod';
import { defineExecutor, type Executor, type ExecutorContext } from '../executor/executor.ts';
import { createMetrics, type Metrics } from '../health/metrics.ts';
import { createLogger } from '../log/logger.ts';
import { FakeScheduler } from './fake-scheduler.ts';
import { startWorker, type Worker, type WorkerOptions } from './worker.ts';

/** Tests only: a worker of one role and a scripted scheduler on one broker, both with their own credential. */
export type TestWorker = AsyncDisposable & {
  readonly worker: Worker;
  readonly scheduler: FakeScheduler;
  readonly logs: Record<string, unknown>[];
  readonly metrics: Metrics;
};

type Script = { readonly answer?: FakeScheduler['answer']; readonly remainingMs?: number };
type Broker = Pick<TestBroker<{ readonly url: string; stop(): Promise<void> }>, 'connect'>;

export async function startTestWorker(
  broker: Broker,
  executors: readonly Executor[],
  options: Partial<WorkerOptions> & Script = {},
): Promise<TestWorker> {
  const role = executors[0]?.role ?? 'analyzer';
  const scheduler = new FakeScheduler(await broker.connect({ kind: 'scheduler' }));
  if (options.answer !== undefined) scheduler.answer = options.answer;
  if (options.remainingMs !== undefined) scheduler.remainingMs = options.remainingMs;
  const bus = options.bus ?? (await broker.connect({ kind: 'worker', role }));
  const logs: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) };
  const logger = createLogger({ service: role, level: 'info', destination });
  const metrics = createMetrics(role);
  const worker = startWorker({
    bus,
    role,
    executors,
    slots: 4,
    graceMs: 200,
    abandonMs: 300,
    logger,
    metrics,
    ...options,
  });
  return {
    worker,
    scheduler,
    logs,
    metrics,
    [Symbol.asyncDispose]: async () => {
      await worker.drain();
      await scheduler[Symbol.asyncDispose]();
    },
  };
}

const anyInput = z.record(z.string(), z.unknown());
const anyOutput = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
type Run = (ctx: ExecutorContext<z.infer<typeof anyInput>>) => Promise<Record<string, string | number | boolean>>;

/** An executor named `test/step` that takes anything and puts out flat values. */
export function testExecutor(
  run: Run,
  more: { readonly role?: string; readonly timeoutMs?: number; readonly pure?: boolean } = {},
): Executor {
  const { role = 'analyzer', ...rest } = more;
  return defineExecutor({ role, name: 'test/step', input: anyInput, output: anyOutput, run, ...rest });
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
