import type { Pin } from '@cleanslate/contracts';
import { renderAnswer } from './render-answer.ts';
import type { Answer, FoundFact, QuestionAnalysis, QuestionPlanRecord, SubGoalRecord } from './schemas.ts';

export type AnswerSubject = {
  readonly question: string;
  readonly pin: Pin;
  readonly plan: QuestionPlanRecord;
  readonly subGoals: readonly SubGoalRecord[];
};

/** The deliverable from the analysis. The generator's whole work: it adds no statement of its own. */
export function generateAnswer(analysis: QuestionAnalysis, subject: AnswerSubject): Answer {
  const { question, pin, plan, subGoals } = subject;
  const { statements, disputes, missing, unreachable, facts, provider } = analysis;
  const used = new Set<string>();
  for (const each of statements)
    for (const ref of each.kind === 'quote' ? [each.fact] : [each.left.fact, each.right.fact]) used.add(ref);
  for (const { sides } of disputes) for (const { fact } of sides) if (fact !== null) used.add(fact);
  const answer = {
    question,
    language: plan.language,
    pin,
    statements,
    missing,
    disputes,
    unreachable,
    provider,
    outcome: outcomeOf(analysis, subGoals),
    evidence: facts.filter(({ fact }) => used.has(fact)).map(toCited),
    plan: { ...plan, subGoals },
  };
  return { ...answer, markdown: renderAnswer(answer) };
}

/** The last sub-goal of a chain is the question itself: without it nothing is answered, whatever came before. */
function outcomeOf({ statements, missing }: QuestionAnalysis, subGoals: readonly SubGoalRecord[]): Answer['outcome'] {
  const last = subGoals.at(-1);
  const final =
    last?.kind === 'multi_hop'
      ? statements.filter((each) => each.kind === 'quote' && each.subGoal === last.id)
      : statements;
  if (final.length === 0) return 'not_known';
  return missing.length === 0 ? 'answered' : 'partly_answered';
}

function toCited({
  fact,
  statement,
  sourceType,
  sourceRef,
  validFrom,
  validUntil,
}: FoundFact): Answer['evidence'][number] {
  return { fact, statement, sourceType, sourceRef, validFrom, validUntil };
}
