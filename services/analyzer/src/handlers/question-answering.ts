import { Pin, VerdictReason } from '@cleanslate/contracts';
import { MAX_SUB_GOALS } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { analyzeQuestion, QuestionAnalysis, Retrieved, SubGoalRecord } from '@cleanslate/workflows';
import { z } from 'zod';

/** What was found for each sub-goal, cross-checked: statements with their facts, disputes, and what is not known. */
export function analyzeAnswersExecutor(): Executor {
  return defineExecutor({
    role: 'analyzer',
    name: 'question-answering/analyze',
    input: z.strictObject({
      found: z
        .array(z.strictObject({ subGoal: SubGoalRecord, output: Retrieved }))
        .min(1)
        .max(MAX_SUB_GOALS),
      extra: z.array(z.strictObject({ query: z.string().max(500).nullable(), output: Retrieved })).max(100),
      pin: Pin,
      feedback: z.array(VerdictReason).nullable(),
    }),
    output: QuestionAnalysis,
    pure: true,
    run: ({ input }) => {
      const { found, extra, pin } = input;
      const provider = { kind: 'offline', model: 'offline' } as const;
      return analyzeQuestion({ found, extra, now: Date.parse(pin.validAt), provider });
    },
  });
}
