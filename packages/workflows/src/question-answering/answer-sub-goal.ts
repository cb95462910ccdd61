import { AccessLevel, toStorableText } from '@cleanslate/contracts';
import { figuresOf, findGaps, type Interval } from '@cleanslate/domain';
import { hasSort, type Match, matchFact } from './match-fact.ts';
import { MAX_QUESTION } from './question-input.ts';
import { needOf, type QuestionNeed } from './question-need.ts';
import { readValue } from './read-value.ts';
import type { Dispute, FoundFact, Missing, QuotedAnswer, Retrieved, SubGoalRecord } from './schemas.ts';
import { groupByTopic, settleTopic, toRange, withRivals } from './settle-topic.ts';
import { verdictOf } from './yes-or-no.ts';

export type SubGoalAnswer = {
  readonly statements: readonly QuotedAnswer[];
  readonly disputes: readonly Dispute[];
  readonly missing: readonly Missing[];
  /** What statements and disputes rest on. */
  readonly facts: readonly FoundFact[];
};

/** Facts that fit less well than the best by more than this are about something else as well. */
const MARGIN = 0.12;
const MAX_TOPICS = 3;

/**
 * What the found facts say about a sub-goal, quoted, or what is not known. No model, no guess: a fact answers or it
 * doesn't.
 */
export function answerSubGoal(subGoal: SubGoalRecord, retrieved: Retrieved, now: number): SubGoalAnswer {
  const { id, period } = subGoal;
  const question = retrieved.question ?? subGoal.question;
  const missing = (why: Missing['why'], gap: Interval | null = period): Missing => ({
    subGoal: id,
    question,
    why,
    period: gap,
  });
  const none = (why: Missing['why']): SubGoalAnswer => ({
    statements: [],
    disputes: [],
    missing: [missing(why)],
    facts: [],
  });
  if (retrieved.question === null) return none('needs_unknown');
  const need = needOf(question, period);
  const matches = findMatches(retrieved.facts, need);
  if (matches.length === 0) return none('no_evidence');
  const answers = groupByTopic(matches.map(({ found }) => found))
    .slice(0, MAX_TOPICS)
    .map((topic) => withRivals(topic, retrieved.facts))
    .map((topic): SubGoalAnswer => {
      const settled = settleTopic(topic, { subGoal: id, question }, need, now);
      const standing = [...settled.standing].sort((a, b) => (a.validFrom ?? '').localeCompare(b.validFrom ?? ''));
      const gaps =
        period === null ? [] : findGaps(period, standing.map(toRange)).filter((gap) => isTelling(gap, subGoal));
      return {
        statements: standing.map((found) => toQuoted(found, subGoal, question, need)),
        disputes: settled.disputes,
        missing: [
          ...(standing.length === 0 ? [missing('disputed')] : gaps.map((gap) => missing('period_not_covered', gap))),
        ],
        facts: topic,
      };
    });
  return {
    statements: answers.flatMap((answer) => answer.statements),
    disputes: answers.flatMap((answer) => answer.disputes),
    missing: answers.flatMap((answer) => answer.missing),
    facts: answers.flatMap((answer) => answer.facts),
  };
}

/** Best first. */
function findMatches(facts: readonly FoundFact[], need: QuestionNeed): readonly Match[] {
  const matches = facts.flatMap((found) => matchFact(found, need) ?? []);
  // "What is the liability cap?" asks for a number: that there must be one is an answer only if nobody says which.
  const numbered =
    need.sort === null
      ? matches
      : orAll(
          matches.filter(({ found }) => hasSort(figuresOf(found.statement), need)),
          matches,
        );
  // Statements with a subject and a predicate are measured by those as well: the two sorts are only comparable among
  // themselves.
  const [keyed, plain] = [numbered.filter(isKeyed), numbered.filter((match) => !isKeyed(match))];
  return [...keepBest(keyed), ...keepBest(plain)];
}

function isKeyed({ found }: Match): boolean {
  return found.assertion !== null;
}

function keepBest(matches: readonly Match[]): readonly Match[] {
  const best = Math.max(0, ...matches.map(({ fit }) => fit));
  return matches
    .filter(({ fit }) => fit >= best - MARGIN)
    .sort((a, b) => b.fit - a.fit || b.found.score - a.found.score || (a.found.fact < b.found.fact ? -1 : 1));
}

function orAll(some: readonly Match[], all: readonly Match[]): readonly Match[] {
  return some.length > 0 ? some : all;
}

/** In a timeline whose beginning nobody asked for, the time before the first version is not a gap. */
function isTelling(gap: Interval, { timeline, period }: SubGoalRecord): boolean {
  return !(timeline && period?.from === null && gap.from === null);
}

function toQuoted(found: FoundFact, subGoal: SubGoalRecord, question: string, need: QuestionNeed): QuotedAnswer {
  const { statement, fact, validFrom, validUntil } = found;
  return {
    kind: 'quote',
    subGoal: subGoal.id,
    question,
    quote: statement,
    fact,
    ...readValue(found, need),
    verdict: need.yesOrNo ? verdictOf(question, found) : null,
    validFrom,
    validUntil,
  };
}

/** Most characters of the query of an added search: `evidence` of a verdict's reason. */
const MAX_QUERY = 500;

/** What a question is searched for with in an added step: its beginning, if it is longer than a query may be. */
export function toQuery(question: string): string {
  return toStorableText(question, MAX_QUERY);
}

/** Was this added search made for the question? */
export function isQueryFor(query: string | null, question: string | null): boolean {
  return query !== null && question !== null && query === toQuery(question);
}

/** What other sub-goals' searches found, as the plan hands it to a step. */
export type FoundSubGoal = { readonly subGoal: SubGoalRecord; readonly output: Retrieved };

/**
 * A sub-goal's question with the results of others inserted. Null if one of them has none, or more than one: nobody
 * guesses which was meant.
 */
export function resolveQuestion(question: string, found: readonly FoundSubGoal[], now: number): string | null {
  let unknown = false;
  const resolved = question.replace(/\{(g[1-9]\d?)\}/g, (_name, id: string) => {
    const source = found.find(({ subGoal }) => subGoal.id === id);
    const statements = source === undefined ? [] : answerSubGoal(source.subGoal, source.output, now).statements;
    const values = new Set(statements.flatMap(({ value, unit }) => (value !== null && unit === null ? [value] : [])));
    const [value] = values;
    if (value === undefined || values.size > 1) unknown = true;
    return value ?? '';
  });
  // A result may be longer than any question: nobody could have asked that.
  return unknown || resolved.length > MAX_QUESTION ? null : resolved;
}

/**
 * When and at which level an added search runs: like the sub-goal whose question it is. A search that belongs to no
 * question may read what every sub-goal may.
 */
export function scopeOfQuery(
  query: string,
  planned: readonly SubGoalRecord[],
  found: readonly FoundSubGoal[],
  now: number,
): Pick<SubGoalRecord, 'period' | 'accessLevel'> {
  const asked = planned.find((goal) => isQueryFor(query, resolveQuestion(goal.question, found, now)));
  if (asked !== undefined) return { period: asked.period, accessLevel: asked.accessLevel };
  const lowest = AccessLevel.options.find((level) => planned.some(({ accessLevel }) => accessLevel === level));
  return { period: null, accessLevel: lowest ?? 'internal' };
}
