import { answerSubGoal, type FoundSubGoal, isQueryFor, type SubGoalAnswer } from './answer-sub-goal.ts';
import { compareAnswers } from './compare-answers.ts';
import { MAX_SOURCES } from './question-input.ts';
import type {
  AnswerStatement,
  FoundFact,
  Missing,
  Provider,
  QuestionAnalysis,
  QuotedAnswer,
  Retrieved,
  SubGoalRecord,
} from './schemas.ts';
import { isPassage } from './settle-topic.ts';

/** What a step that the validator asked for found. `query` is the sub-goal's question, or words of its own. */
export type ExtraEvidence = { readonly query: string | null; readonly output: Retrieved };

export type AnalyzeInput = {
  /** Searches by sub-goal, in the order of the plan. */
  readonly found: readonly FoundSubGoal[];
  readonly extra: readonly ExtraEvidence[];
  /** Milliseconds: the moment that freshness is relative to. */
  readonly now: number;
  readonly provider: Provider;
};

/**
 * Answers every sub-goal from what was found for it, compares where a comparison is asked for, and says what is not
 * known. The analyzer's whole work.
 */
export function analyzeQuestion({ found, extra, now, provider }: AnalyzeInput): QuestionAnalysis {
  const answers = found.map(({ subGoal, output }) => ({
    subGoal,
    answer: answerSubGoal(subGoal, withExtra(output, subGoal, extra), now),
  }));
  const quoted = answers.flatMap(({ answer }) => answer.statements);
  const compared = compareSubGoals(answers);
  const facts = new Map(answers.flatMap(({ answer }) => answer.facts).map((fact) => [fact.fact as string, fact]));
  return {
    statements: dedupe([...quoted, ...compared.statements]),
    disputes: answers.flatMap(({ answer }) => answer.disputes).slice(0, 20),
    missing: [...answers.flatMap(({ answer }) => answer.missing), ...compared.missing].slice(0, 50),
    unreachable: unreachableOf([...found, ...extra]),
    facts: [...facts.values()].slice(0, 200),
    provider,
  };
}

function unreachableOf(searches: readonly { readonly output: Retrieved }[]): Retrieved['unreachable'] {
  const all = searches.flatMap(({ output }) => output.unreachable);
  return [...new Map(all.map((each) => [each.source, each])).values()].slice(0, MAX_SOURCES);
}

type Answered = { readonly subGoal: SubGoalRecord; readonly answer: SubGoalAnswer };

/** What was found in an added search counts for the sub-goal whose question it was. */
function withExtra(output: Retrieved, subGoal: SubGoalRecord, extra: readonly ExtraEvidence[]): Retrieved {
  const own = extra.filter(({ query }) => isQueryFor(query, output.question ?? subGoal.question));
  if (own.length === 0) return output;
  const facts = new Map<string, FoundFact>();
  for (const found of [output, ...own.map((each) => each.output)])
    for (const fact of found.facts) if (!facts.has(fact.fact)) facts.set(fact.fact, fact);
  return { ...output, facts: [...facts.values()].slice(0, 200) };
}

/**
 * For two sub-goals to be compared: each fact that answers both, as it was and as it is; otherwise what each ended
 * with.
 */
function compareSubGoals(answers: readonly Answered[]): {
  readonly statements: readonly AnswerStatement[];
  readonly missing: readonly Missing[];
} {
  const sides = answers.filter(({ subGoal }) => subGoal.kind === 'comparison');
  const [left, right] = sides;
  if (left === undefined || right === undefined || sides.length !== 2) return { statements: [], missing: [] };
  const pairs = pairsOf(left.answer.statements, right.answer.statements);
  const compared = pairs.flatMap(([a, b]) => compareAnswers(a, b) ?? []);
  if (compared.length > 0 || pairs.length === 0) return { statements: compared, missing: [] };
  const { id, question, period } = right.subGoal;
  return { statements: [], missing: [{ subGoal: id, question, why: 'not_comparable', period }] };
}

function pairsOf(
  left: readonly QuotedAnswer[],
  right: readonly QuotedAnswer[],
): readonly (readonly [QuotedAnswer, QuotedAnswer])[] {
  const common = new Set(
    left.map(({ fact }) => idOf(fact)).filter((id) => right.some(({ fact }) => idOf(fact) === id)),
  );
  const pair = (ofLeft: readonly QuotedAnswer[], ofRight: readonly QuotedAnswer[]) => {
    const [a, b] = [measurable(ofLeft), measurable(ofRight)];
    return a === undefined || b === undefined ? [] : [[a, b] as const];
  };
  if (common.size === 0) return pair(left, right);
  return [...common].flatMap((id) =>
    pair(
      left.filter(({ fact }) => idOf(fact) === id),
      right.filter(({ fact }) => idOf(fact) === id),
    ),
  );
}

/** The last one in force during its period: how it ended. */
function measurable(statements: readonly QuotedAnswer[]): QuotedAnswer | undefined {
  return (
    statements.findLast(({ value, unit }) => value !== null && unit !== null) ??
    statements.findLast(({ value }) => value !== null)
  );
}

function idOf(ref: string): string {
  return isPassage(ref) ? ref : ref.slice(0, ref.lastIndexOf('@'));
}

function dedupe(statements: readonly AnswerStatement[]): readonly AnswerStatement[] {
  const keyOf = (each: AnswerStatement) =>
    each.kind === 'quote' ? `${each.subGoal} ${each.fact}` : JSON.stringify(each);
  return [...new Map(statements.map((each) => [keyOf(each), each])).values()].slice(0, 100);
}
