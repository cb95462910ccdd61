import { Pin, VerdictReason } from '@cleanslate/contracts';
import { MAX_SUB_GOALS } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import {
  Answer,
  generateAnswer,
  MAX_QUESTION,
  QuestionAnalysis,
  QuestionPlanRecord,
  SubGoalRecord,
} from '@cleanslate/workflows';
import { z } from 'zod';

/** The answer from the analysis, for machines and (as Markdown) for people; it adds no statement of its own. */
export function answerExecutor(): Executor {
  return defineExecutor({
    role: 'generator',
    name: 'question-answering/generate',
    input: z.strictObject({
      question: z.string().min(1).max(MAX_QUESTION),
      pin: Pin,
      plan: QuestionPlanRecord,
      subGoals: z.array(SubGoalRecord).min(1).max(MAX_SUB_GOALS),
      analysis: QuestionAnalysis,
      feedback: z.array(VerdictReason).nullable(),
    }),
    output: Answer,
    pure: true,
    run: ({ input }) => generateAnswer(input.analysis, input),
  });
}
