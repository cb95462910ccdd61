import { DocumentInput } from '@cleanslate/contracts';
import { defineWorkflow, SANITIZE_LEVELS } from '@cleanslate/domain';
import { CONTRACT_REVIEW_STEPS } from '@cleanslate/workflows';
import { z } from 'zod';

const { retrieve, analyze, generate, validate } = CONTRACT_REVIEW_STEPS;

/**
 * The steps and executors of the shipped contract review, with two differences: the level comes with the input and
 * stands alone between the base and the agents (every version is read, at every level), and the verdict is written down
 * but not acted upon, since a validator that turns a contaminated report away would hide what the level lets through.
 */
export const contaminationWorkflow = defineWorkflow({
  name: 'contamination-review',
  input: z.strictObject({ document: DocumentInput, sanitize: z.enum(SANITIZE_LEVELS) }),
  documents: ['document'],
  steps: {
    retrieve: { ...retrieve, input: { ...retrieve.input, reads: { value: 'all' }, sanitize: 'input.sanitize' } },
    analyze: { ...analyze, input: { ...analyze.input, sanitize: 'input.sanitize' } },
    generate,
    validate,
  },
  result: 'steps.generate.output.report',
});
