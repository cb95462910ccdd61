export { dayOf } from './calendar.ts';
export { type FoundPeriod, findPeriods } from './find-periods.ts';
export { ALLEN_RELATIONS, type AllenRelation, allenRelation, findGaps, type Interval, intersect } from './interval.ts';
export { orderSubGoals } from './order-sub-goals.ts';
export { languageOf, planQuestion, planWhole, type QuestionContext, withConfidence } from './plan-question.ts';
export {
  findNamedGoals,
  MAX_SUB_GOALS,
  QUESTION_KINDS,
  QUESTION_LANGUAGES,
  type QuestionKind,
  type QuestionLanguage,
  type QuestionPlan,
  SEARCH_CHANNELS,
  type SearchChannel,
  SURE,
  type SubGoal,
} from './sub-goal.ts';
