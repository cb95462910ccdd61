import { baseConfig, databaseConfig, rolloutConfig, wholeNumber } from '@cleanslate/runtime/service';
import { z } from 'zod';

export const schedulerConfig = baseConfig.extend({
  ...databaseConfig,
  ...rolloutConfig,
  DATABASE_POOL: wholeNumber({ min: 2, max: 50 }).default(5).describe('database connections of this process'),
  LEASE_MS: wholeNumber({ min: 500, max: 600_000 })
    .default(30_000)
    .describe('how long a claim holds without a heartbeat'),
  RING_CHECK_MS: wholeNumber({ min: 500, max: 600_000 })
    .default(30_000)
    .describe('how long a doorbell may go unanswered before the stream is asked for it'),
  MODEL_LEASE_MS: wholeNumber({ min: 500, max: 600_000 })
    .default(15_000)
    .describe('how long a worker that died still counts against the limit of concurrent model requests'),
  MAX_RINGS: wholeNumber({ min: 1, max: 1_000 })
    .default(20)
    .describe('doorbells of one attempt that may vanish from the stream before its step fails with RINGS_EXHAUSTED'),
  SILENT_CLAIMS: wholeNumber({ min: 0, max: 100 })
    .default(3)
    .describe('claims of one step that may end before their first heartbeat and spend no attempt; 0: each counts'),
  LETTER_RETAIN_DAYS: wholeNumber({ min: 1, max: 3_650 })
    .default(30)
    .describe('how long closed and discarded dead letters are kept'),
  WORKFLOWS_DIR: z
    .string()
    .optional()
    .describe('folder of *.json plans: workflows of your own beside the built-in ones'),
  RECONCILE_MS: wholeNumber({ min: 100, max: 3_600_000 })
    .default(30_000)
    .describe('pause between two searches for tasks that nothing will move'),
  RETAIN_DAYS: wholeNumber({ min: 1, max: 36_500 })
    .default(90)
    .describe('how long finished tasks are kept, unless their tenant sets another number'),
  SWEEP_MS: wholeNumber({ min: 50, max: 60_000 })
    .default(500)
    .describe('pause between two searches for rows that are due'),
});
