import { AccessLevel, Pin } from '@cleanslate/contracts';
import { languageOf, MAX_SUB_GOALS, planQuestion, type QuestionContext, type QuestionPlan } from '@cleanslate/domain';
import { defineExecutor, type Executor, type StepContext } from '@cleanslate/runtime';
import { MAX_QUESTION, QuestionPlanRecord, SubGoalRecord } from '@cleanslate/workflows';
import { z } from 'zod';
import { askForPlan } from './ask-for-plan.ts';

const OFFLINE = { kind: 'offline', model: 'offline' } as const;

/**
 * Takes a question apart into sub-goals, by templates; a model is asked only about what none of them covers. The same
 * rules treat its answer as data.
 */
export function planExecutor(): Executor {
  return defineExecutor({
    role: 'planner',
    name: 'question-answering/plan',
    input: z.strictObject({
      question: z.string().min(1).max(MAX_QUESTION),
      accessLevel: AccessLevel.nullable(),
      pin: Pin,
    }),
    output: z.strictObject({
      plan: QuestionPlanRecord,
      subGoals: z.array(SubGoalRecord).min(1).max(MAX_SUB_GOALS),
    }),
    run: async ({ input, model, logger }) => {
      const context = { validAt: input.pin.validAt, accessLevel: input.accessLevel ?? 'internal' };
      const planned = await planOf(input.question, context, { model, logger });
      const { subGoals, ...plan } = planned;
      logger.info({ by: plan.by, kind: plan.kind, subGoals: subGoals.length }, 'question taken apart');
      return {
        plan,
        subGoals: subGoals.map((goal) => ({ ...goal, needs: [...goal.needs], channels: [...goal.channels] })),
      };
    },
  });
}

type Planned = QuestionPlan & Pick<QuestionPlanRecord, 'by' | 'provider'>;

async function planOf(
  question: string,
  context: QuestionContext,
  step: Pick<StepContext, 'model' | 'logger'>,
): Promise<Planned> {
  const byTemplate = planQuestion(question, context);
  if (byTemplate !== null) return { ...byTemplate, by: 'template', provider: OFFLINE };
  return { ...(await askForPlan(question, context, step)), language: languageOf(question) };
}
