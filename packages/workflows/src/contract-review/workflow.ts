import { DocumentInput } from '@cleanslate/contracts';
import { defineWorkflow, type WorkflowDefinition } from '@cleanslate/domain/ledger';
import { z } from 'zod';
import { POLICY_SUBJECTS } from './policy-subjects.ts';

/** What each step is given, and who does it. A workflow of your own may use these with other inputs. */
export const CONTRACT_REVIEW_STEPS = {
  retrieve: {
    role: 'retriever',
    executor: 'contract-review/retrieve',
    input: { subjects: { value: Object.values(POLICY_SUBJECTS) }, pin: 'pin' },
  },
  analyze: {
    role: 'analyzer',
    executor: 'contract-review/analyze',
    after: ['retrieve'],
    input: { document: 'input.document', facts: 'steps.retrieve.output.facts', feedback: 'feedback' },
  },
  generate: {
    role: 'generator',
    executor: 'contract-review/generate',
    after: ['analyze'],
    input: { document: 'input.document', pin: 'pin', analysis: 'steps.analyze.output.analysis', feedback: 'feedback' },
  },
  validate: {
    role: 'validator',
    executor: 'contract-review/validate',
    after: ['generate'],
    input: { document: 'input.document', pin: 'pin', report: 'steps.generate.output.report' },
  },
} satisfies WorkflowDefinition['steps'];

/**
 * retrieve (policy facts at the pin) → analyze → generate → validate; what the validator sends back is analyzed again,
 * for at most three rounds.
 */
export const contractReviewWorkflow = defineWorkflow({
  name: 'contract-review',
  input: z.strictObject({ document: DocumentInput }),
  documents: ['document'],
  steps: CONTRACT_REVIEW_STEPS,
  validation: { step: 'validate', rework: ['analyze', 'generate'], maxRounds: 3 },
  result: 'steps.generate.output.report',
});
