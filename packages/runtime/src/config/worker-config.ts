import { modelConfig } from '@cleanslate/llm';
import { baseConfig, wholeNumber } from './config.ts';

/** What every worker reads. */
export const workerConfig = baseConfig.extend({
  ...modelConfig,
  SLOTS: wholeNumber({ min: 1, max: 1_000 }).default(8).describe('steps that this worker runs at once'),
});
