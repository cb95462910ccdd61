import { AccessLevel } from '@cleanslate/contracts';
import { defineWorkflow, MAX_SUB_GOALS } from '@cleanslate/domain/ledger';
import { z } from 'zod';
import { MAX_QUESTION, MAX_SOURCES, SourceName } from './question-input.ts';

/**
 * plan → a search for each sub-goal, those that need another's result after it → analyze → generate → validate. What
 * the validator misses is searched for again, and what it sends back is analyzed again, for at most three rounds.
 * Outputs are mapped whole: a large one travels by reference.
 */
export const questionAnsweringWorkflow = defineWorkflow({
  name: 'question-answering',
  input: z.strictObject({
    question: z.string().min(1).max(MAX_QUESTION),
    /** The highest level of knowledge that may be read for it. */
    accessLevel: AccessLevel.optional(),
    /** Sources to ask besides the knowledge base. */
    sources: z.array(SourceName).max(MAX_SOURCES).optional(),
  }),
  steps: {
    plan: {
      role: 'planner',
      executor: 'question-answering/plan',
      input: { question: 'input.question', accessLevel: 'input.accessLevel', pin: 'pin' },
    },
    retrieve: {
      role: 'retriever',
      executor: 'question-answering/retrieve',
      after: ['plan'],
      input: {
        subGoal: 'subGoal',
        found: 'subGoals',
        planned: 'steps.plan.output.subGoals',
        query: 'feedback.0.evidence',
        sources: 'input.sources',
        pin: 'pin',
      },
    },
    analyze: {
      role: 'analyzer',
      executor: 'question-answering/analyze',
      after: ['retrieve'],
      input: { found: 'subGoals', extra: 'evidence', pin: 'pin', feedback: 'feedback' },
    },
    generate: {
      role: 'generator',
      executor: 'question-answering/generate',
      after: ['plan', 'analyze'],
      input: {
        question: 'input.question',
        pin: 'pin',
        plan: 'steps.plan.output.plan',
        subGoals: 'steps.plan.output.subGoals',
        analysis: 'steps.analyze.output',
        feedback: 'feedback',
      },
    },
    validate: {
      role: 'validator',
      executor: 'question-answering/validate',
      after: ['generate'],
      input: {
        question: 'input.question',
        pin: 'pin',
        subGoals: 'steps.plan.output.subGoals',
        found: 'subGoals',
        extra: 'evidence',
        answer: 'steps.generate.output',
      },
    },
  },
  growth: { from: 'plan', step: 'retrieve', maxSteps: MAX_SUB_GOALS },
  validation: {
    step: 'validate',
    rework: ['analyze', 'generate'],
    maxRounds: 3,
    evidence: { step: 'retrieve', maxSteps: 40 },
  },
  result: 'steps.generate.output',
});
