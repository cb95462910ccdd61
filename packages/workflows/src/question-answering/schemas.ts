import {
  AccessLevel,
  Assertion,
  FactRef,
  KnowledgeLayer,
  KnowledgeType,
  Pin,
  SourceType,
  UtcTime,
} from '@cleanslate/contracts';
import { MAX_SUB_GOALS, QUESTION_KINDS, QUESTION_LANGUAGES, SEARCH_CHANNELS } from '@cleanslate/domain';
import { z } from 'zod';
import { MAX_QUESTION, MAX_SOURCES, SourceName } from './question-input.ts';

const GoalId = z.string().regex(/^g[1-9]\d?$/);
const Question = z.string().min(1).max(MAX_QUESTION);
const Statement = z.string().min(1).max(20_000);

/** `source:<name>:<locator>§<n>`: the n-th sentence of what is there. */
const PassageRef = z.string().regex(/^source:[a-z0-9][a-z0-9_-]{0,62}:.{1,2000}§[1-9][0-9]{0,5}$/su);
/** What a statement rests on: a fact version, or a sentence of another source. */
export const EvidenceRef = z.union([FactRef, PassageRef]);
export type EvidenceRef = z.infer<typeof EvidenceRef>;

export const Interval = z.strictObject({ from: UtcTime.nullable(), until: UtcTime.nullable() });

export const SubGoalRecord = z.strictObject({
  id: GoalId,
  question: Question,
  kind: z.enum(QUESTION_KINDS),
  period: Interval.nullable(),
  timeline: z.boolean(),
  needs: z.array(GoalId).max(MAX_SUB_GOALS).readonly(),
  channels: z.array(z.enum(SEARCH_CHANNELS)).min(1).max(SEARCH_CHANNELS.length).readonly(),
  accessLevel: AccessLevel,
});
export type SubGoalRecord = z.infer<typeof SubGoalRecord>;

/** Who answered: a rule, or a model by its name. */
export const Provider = z.strictObject({ kind: z.enum(['offline', 'openai']), model: z.string().min(1).max(200) });
export type Provider = z.infer<typeof Provider>;

/** How a question will be answered: the planner's output. */
export const QuestionPlanRecord = z.strictObject({
  language: z.enum(QUESTION_LANGUAGES),
  kind: z.enum(QUESTION_KINDS),
  confidence: z.number().min(0).max(1),
  /** `template`: a rule covered the question. */
  by: z.enum(['template', 'model', 'whole_question']),
  provider: Provider,
});
export type QuestionPlanRecord = z.infer<typeof QuestionPlanRecord>;

/** A claim against a fact that nobody has decided on. */
const Challenger = z.strictObject({
  disputeId: z.int().positive(),
  statement: Statement,
  value: z.string().max(2_000).nullable(),
  unit: z.string().max(40).nullable(),
  /** Null for an imported set, which is vouched for as a whole. */
  sourceType: SourceType.nullable(),
  sourceRef: z.string().max(500).nullable(),
});

/** One fact version, or one sentence of another source, that a search found, as the sanitizer let it through. */
export const FoundFact = z.strictObject({
  fact: EvidenceRef,
  statement: Statement,
  assertion: Assertion.nullable(),
  knowledgeType: KnowledgeType,
  layer: KnowledgeLayer,
  sourceType: SourceType,
  sourceRef: z.string().max(500),
  weight: z.number(),
  accessLevel: AccessLevel,
  validFrom: UtcTime.nullable(),
  validUntil: UtcTime.nullable(),
  /** Of the search; comparable within one search only. */
  score: z.number(),
  /** It addresses a machine: quoted as data, never an answer. */
  suspicious: z.boolean(),
  challengers: z.array(Challenger).max(20).readonly(),
});
export type FoundFact = z.infer<typeof FoundFact>;

/** Sources that could not be asked, and why: an answer says what it did not see. */
const Unreachable = z
  .array(z.strictObject({ source: SourceName, code: z.string().min(1).max(64) }))
  .max(MAX_SOURCES)
  .readonly();

/** The outcome of a search for one sub-goal. */
export const Retrieved = z.strictObject({
  /** The question as asked: with the results of other sub-goals inserted; null if one of them has none. */
  question: Question.nullable(),
  facts: z.array(FoundFact).max(200).readonly(),
  channels: z.array(z.enum(SEARCH_CHANNELS)).max(SEARCH_CHANNELS.length).readonly(),
  unreachable: Unreachable,
});
export type Retrieved = z.infer<typeof Retrieved>;

/** A statement of the knowledge base that answers a sub-goal, word for word. */
export const QuotedAnswer = z.strictObject({
  kind: z.literal('quote'),
  subGoal: GoalId,
  question: Question,
  quote: Statement,
  fact: EvidenceRef,
  /** The requested value, if the fact has it in a form of its own: "30", "days". */
  value: z.string().max(2_000).nullable(),
  unit: z.string().max(40).nullable(),
  /** For a question that is answered by yes or no; null if only the quote can say it. */
  verdict: z.enum(['yes', 'no']).nullable(),
  validFrom: UtcTime.nullable(),
  validUntil: UtcTime.nullable(),
});
export type QuotedAnswer = z.infer<typeof QuotedAnswer>;

const Side = z.strictObject({
  subGoal: GoalId,
  fact: EvidenceRef,
  value: z.string().max(100),
  unit: z.string().max(40),
});

/** What follows from two quoted answers by arithmetic. */
export const ComparedAnswer = z.strictObject({
  kind: z.literal('comparison'),
  left: Side,
  right: Side,
  relation: z.enum(['greater', 'less', 'equal']),
  /** Between the two, never negative. */
  difference: z.string().max(100),
  unit: z.string().max(40),
});
export type ComparedAnswer = z.infer<typeof ComparedAnswer>;

export const AnswerStatement = z.discriminatedUnion('kind', [QuotedAnswer, ComparedAnswer]);
export type AnswerStatement = z.infer<typeof AnswerStatement>;

/** Statements that can't all be true, and the ruling of arbitration. All sides are shown. */
export const Dispute = z.strictObject({
  subGoal: GoalId,
  question: Question,
  ruling: z.enum(['decided', 'disputed']),
  reason: z.string().max(300),
  /** Lead of the best over the second best. */
  lead: z.number().nullable(),
  sides: z
    .array(
      z.strictObject({
        /** Null for a claim that is not a fact. */
        fact: EvidenceRef.nullable(),
        disputeId: z.int().positive().nullable(),
        statement: Statement,
        value: z.string().max(2_000).nullable(),
        unit: z.string().max(40).nullable(),
        sourceType: SourceType.nullable(),
        sourceRef: z.string().max(500).nullable(),
        score: z.number().nullable(),
        /** The evidence that it rests on. */
        evidence: z.array(EvidenceRef).max(20).readonly(),
      }),
    )
    .min(2)
    .max(20)
    .readonly(),
});
export type Dispute = z.infer<typeof Dispute>;

const MISSING_REASONS = [
  /** Nothing that was found answers it. */
  'no_evidence',
  /** It needs the result of a sub-goal that has none. */
  'needs_unknown',
  /** The knowledge base has nothing for a part of the period. */
  'period_not_covered',
  /** Two values, but in units that can't be compared. */
  'not_comparable',
  /** Sources disagree, and no rule decides. */
  'disputed',
] as const;

/** What is not known. */
export const Missing = z.strictObject({
  subGoal: GoalId,
  question: Question,
  why: z.enum(MISSING_REASONS),
  period: Interval.nullable(),
});
export type Missing = z.infer<typeof Missing>;

/** What the analyzer hands to the generator. */
export const QuestionAnalysis = z.strictObject({
  statements: z.array(AnswerStatement).max(100).readonly(),
  disputes: z.array(Dispute).max(20).readonly(),
  missing: z.array(Missing).max(50).readonly(),
  unreachable: Unreachable,
  /** What the statements and disputes rest on. */
  facts: z.array(FoundFact).max(200).readonly(),
  provider: Provider,
});
export type QuestionAnalysis = z.infer<typeof QuestionAnalysis>;

export const CitedFact = z.strictObject({
  fact: EvidenceRef,
  statement: Statement,
  sourceType: SourceType,
  sourceRef: z.string().max(500),
  validFrom: UtcTime.nullable(),
  validUntil: UtcTime.nullable(),
});

const OUTCOMES = ['answered', 'partly_answered', 'not_known'] as const;

/** The answer, for machines; `markdown` is the same for people. */
export const Answer = z.strictObject({
  question: Question,
  language: z.enum(QUESTION_LANGUAGES),
  pin: Pin,
  outcome: z.enum(OUTCOMES),
  statements: z.array(AnswerStatement).max(100).readonly(),
  missing: z.array(Missing).max(50).readonly(),
  disputes: z.array(Dispute).max(20).readonly(),
  unreachable: Unreachable,
  evidence: z.array(CitedFact).max(200).readonly(),
  /** How it was taken apart. */
  plan: z.strictObject({ ...QuestionPlanRecord.shape, subGoals: z.array(SubGoalRecord).max(MAX_SUB_GOALS).readonly() }),
  /** `offline`: no model took part. */
  provider: Provider,
  markdown: z.string().min(1).max(200_000),
});
export type Answer = z.infer<typeof Answer>;
