import { AccessLevel, AppError } from '@cleanslate/contracts';
import { allenRelation } from './interval.ts';
import { findNamedGoals, MAX_SUB_GOALS, type SubGoal } from './sub-goal.ts';

const LEVELS = AccessLevel.options;

/**
 * Sub-goals with what each waits for, each after what it needs. By data: it names another's result. By time: of two
 * about the same, the later period is asked about after the earlier one. By permission: what was read at a level is
 * never part of a search below it, and of two about the same the lower level is asked first. Throws `PLAN_INVALID` for
 * an unknown name, a cycle, or more than eight.
 */
export function orderSubGoals(subGoals: readonly SubGoal[]): readonly SubGoal[] {
  if (subGoals.length === 0 || subGoals.length > MAX_SUB_GOALS)
    throw invalid(`a question has 1 to ${MAX_SUB_GOALS} sub-goals, not ${subGoals.length}: ask less at once`);
  const ids = new Set(subGoals.map(({ id }) => id));
  if (ids.size !== subGoals.length) throw invalid('two sub-goals have the same id');
  for (const { id, needs, question } of subGoals) {
    const unknown = [...needs, ...findNamedGoals(question)].find((each) => !ids.has(each));
    if (unknown !== undefined) throw invalid(`sub-goal ${id} needs ${unknown}, which the plan doesn't have`);
  }
  const needing = subGoals.map((goal) => ({ ...goal, needs: needsOf(goal, subGoals) }));
  return raiseLevels(sortByNeeds(needing));
}

function needsOf(goal: SubGoal, all: readonly SubGoal[]): readonly string[] {
  const needs = new Set([...goal.needs, ...findNamedGoals(goal.question)]);
  for (const other of all) {
    if (other.id === goal.id || !isSameTopic(goal, other)) continue;
    if (isLater(goal, other) || (levelOf(goal) > levelOf(other) && !isLater(other, goal))) needs.add(other.id);
  }
  return all.map(({ id }) => id).filter((id) => needs.has(id));
}

function isSameTopic(a: SubGoal, b: SubGoal): boolean {
  return a.question === b.question;
}

function isLater(a: SubGoal, b: SubGoal): boolean {
  if (a.period === null || b.period === null) return false;
  const relation = allenRelation(a.period, b.period);
  return relation === 'after' || relation === 'met_by';
}

/** Each after all it needs, otherwise in the given order. */
function sortByNeeds(goals: readonly SubGoal[]): readonly SubGoal[] {
  const sorted: SubGoal[] = [];
  const left = [...goals];
  while (left.length > 0) {
    const next = left.findIndex(({ needs }) => needs.every((id) => sorted.some((done) => done.id === id)));
    const [goal] = next === -1 ? [] : left.splice(next, 1);
    if (goal === undefined)
      throw invalid(
        `sub-goals need each other in a cycle: ${left.map(({ id, needs }) => `${id} → ${needs.join(', ')}`).join('; ')}`,
      );
    sorted.push(goal);
  }
  return sorted;
}

/**
 * A search made from a restricted result would reveal it to whoever runs the source: it runs at that result's level.
 */
function raiseLevels(sorted: readonly SubGoal[]): readonly SubGoal[] {
  const raised: SubGoal[] = [];
  for (const goal of sorted) {
    const named = findNamedGoals(goal.question).flatMap((id) => raised.filter((each) => each.id === id));
    const level = Math.max(levelOf(goal), ...named.map(levelOf));
    raised.push({ ...goal, accessLevel: LEVELS[level] ?? goal.accessLevel });
  }
  return raised;
}

function levelOf({ accessLevel }: SubGoal): number {
  return LEVELS.indexOf(accessLevel);
}

function invalid(message: string): AppError {
  return new AppError('PLAN_INVALID', message);
}
