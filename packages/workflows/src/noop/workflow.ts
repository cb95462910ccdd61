import { defineWorkflow } from '@cleanslate/domain/ledger';
import { z } from 'zod';

const noop = (role: string, after: readonly string[]) => ({ role, executor: 'bench/noop', after, input: {} });

/**
 * Four steps that do nothing, one per built-in role: checks a deployment end to end, and is what the benches measure.
 */
export const noopWorkflow = defineWorkflow({
  name: 'noop',
  input: z.strictObject({}),
  steps: {
    retrieve: noop('retriever', []),
    analyze: noop('analyzer', ['retrieve']),
    generate: noop('generator', ['analyze']),
    validate: noop('validator', ['generate']),
  },
  result: 'steps.validate.output',
});
