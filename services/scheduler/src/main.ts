import { setFlagsFromString } from 'node:v8';
import { connectServiceBus, openServiceDatabase, runService } from '@cleanslate/runtime/service';
import { WORKFLOWS } from '@cleanslate/workflows/plans';
import { schedulerConfig } from './config.ts';
import { loadWorkflows } from './load-workflows.ts';
import { startScheduler } from './start.ts';

/**
 * A scheduler that freezes with locks in hand holds the others up for so long at most. Far above the longest wait
 * inside a transaction: the event relay's 2 s for the broker.
 */
const STALL_MS = 10_000;

/**
 * What a batch has in hand lives until its commit, long enough to be taken for old: at full load V8 would go through
 * the whole heap two or three times a second, which it need not before that has grown by four fifths. (Measured: a heap
 * that may double costs 6 % less of the scheduler's CPU and has 8 MB more, where design/70 wants 150 in all; one that
 * grows by 60 % costs 8 % more and saves nothing.)
 */
setFlagsFromString('--heap-growing-percent=80');

await runService({
  name: 'scheduler',
  config: schedulerConfig,
  env: process.env,
  start: async (context) => {
    const { config, logger, metrics, tracer } = context;
    const workflows = await loadWorkflows(WORKFLOWS, config.WORKFLOWS_DIR);
    const database = await openServiceDatabase(context, 'cleanslate_scheduler', {
      applicationName: 'cleanslate-scheduler',
      poolSize: config.DATABASE_POOL,
      bitmapScans: false,
      planOnce: true,
      stallMs: STALL_MS,
    });
    const bus = await connectServiceBus(context, { kind: 'scheduler' });
    const scheduler = await startScheduler({
      bus,
      database,
      logger,
      metrics,
      tracer,
      workflows,
      sweepMs: config.SWEEP_MS,
      retainDays: config.RETAIN_DAYS,
      reconcileMs: config.RECONCILE_MS,
      letterRetainDays: config.LETTER_RETAIN_DAYS,
      rolloutMs: config.ROLLOUT_MS,
      modelLeaseMs: config.MODEL_LEASE_MS,
      machine: {
        leaseMs: config.LEASE_MS,
        ringCheckMs: config.RING_CHECK_MS,
        maxRings: config.MAX_RINGS,
        silentClaims: config.SILENT_CLAIMS,
      },
    });
    return {
      checks: scheduler.checks,
      ended: Promise.race([bus.closed, scheduler.ended]),
      stop: async () => {
        await scheduler.stop();
        await bus.close();
        await database.close();
      },
    };
  },
});
