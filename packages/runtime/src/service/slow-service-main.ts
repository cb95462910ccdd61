import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { workerConfig } from '../config/worker-config.ts';
import { defineExecutor } from '../executor/executor.ts';
import { startWorker } from '../worker/worker.ts';
import { connectServiceBus } from './connections.ts';
import { runService } from './run-service.ts';

/**
 * Tests only: a worker service whose steps take as long as they are told to, or misbehave. Its environment is its first
 * argument.
 */
const role = 'analyzer';
const slow = defineExecutor({
  role,
  name: 'test/step',
  output: z.strictObject({ ms: z.number() }),
  input: z.strictObject({
    ms: z.number(),
    forget: z.union([z.literal(true), z.enum(['throw', 'late', 'abort'])]).optional(),
  }),
  run: async ({ input, signal }) => {
    if (input.forget === true) void Promise.reject(new Error('nobody awaits this'));
    if (input.forget === 'throw') setTimeout(() => raise('nobody catches this'), 1);
    if (input.forget === 'late') setTimeout(() => void Promise.reject(new Error('nobody is there any more')), 500);
    if (input.forget === 'abort')
      void new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('nobody is told of it'))),
      );
    await sleep(input.ms, undefined, { signal });
    return { ms: input.ms };
  },
});

function raise(message: string): never {
  throw new Error(message);
}

await runService({
  name: role,
  config: workerConfig,
  env: JSON.parse(process.argv[2] ?? '{}') as Record<string, string>,
  start: async (context) => {
    const { config, logger, metrics } = context;
    const bus = await connectServiceBus(context, { kind: 'worker', role });
    const slots = config.SLOTS;
    const worker = startWorker({ bus, role, executors: [slow], slots, graceMs: config.GRACE_MS, logger, metrics });
    return {
      checks: worker.checks(),
      ended: bus.closed,
      onFault: (fault) => worker.endFor(fault),
      stop: async () => {
        await worker.drain();
        await bus.close();
      },
    };
  },
});
