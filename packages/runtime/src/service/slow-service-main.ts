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
  input: z.strictObject({ ms: z.number(), forget: z.boolean().optional() }),
  run: async ({ input, signal }) => {
    if (input.forget === true) void Promise.reject(new Error('nobody awaits this'));
    await sleep(input.ms, undefined, { signal });
    return { ms: input.ms };
  },
});

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
      stop: async () => {
        await worker.drain();
        await bus.close();
      },
    };
  },
});
