export { analyzeQuestion, type ExtraEvidence } from './analyze-question.ts';
export { type FoundSubGoal, resolveQuestion, scopeOfQuery } from './answer-sub-goal.ts';
export { checkAnswer } from './check-answer.ts';
export { toFoundFact, toFoundPassages } from './found-fact.ts';
export { generateAnswer } from './generate-answer.ts';
export { matchFact } from './match-fact.ts';
export { MAX_QUESTION, MAX_SOURCES, SourceName } from './question-input.ts';
export { needOf } from './question-need.ts';
export { Answer, FoundFact, QuestionAnalysis, QuestionPlanRecord, Retrieved, SubGoalRecord } from './schemas.ts';
