import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { CandidateId, FactRef, KnowledgeId, Sha256, StepId, TaskId, UtcTime } from './ids.ts';
import { CandidateOutcome, KnowledgeType, SourceType } from './knowledge.ts';

const Reason = z.string().min(1).max(500);
/**
 * Who says so, as the organisation names people: kept with what they said. One person has one
 * voice, however often they speak.
 */
export const PersonName = z.string().min(1).max(200);
const page = { limit: z.int().min(1).max(500).optional(), before: z.string().max(300).optional() };

/**
 * Erases what a fact says wherever the platform keeps it, including earlier revisions, the ledger, objects and streams.
 * A tombstone remains. Can't be undone. Repeating it changes nothing, except that a new `also` is looked for too.
 */
export const FactRedact = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'redact', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      /** This version and those that say the same; default all. */
      version: z.int().positive().optional(),
      reason: Reason,
      by: PersonName,
      /** Other wordings to erase from what tasks left behind, such as a name as it stood in the original. */
      also: z.array(z.string().min(4).max(2_000)).max(20).optional(),
      /** Only show what would be erased. */
      dryRun: z.boolean().optional(),
    }),
  () =>
    z.strictObject({
      /** Null for a dry run. */
      redactionId: z.int().positive().nullable(),
      knowledgeId: KnowledgeId,
      versions: z.array(FactRef),
      revision: z.int().nonnegative(),
      /** Candidates, including undecided ones, and disputes that said the same. */
      candidates: z.int().nonnegative(),
      disputes: z.int().nonnegative(),
      /**
       * Other facts that say the same or contain its words, the first 50. They keep them until they are redacted too.
       */
      elsewhere: z.array(FactRef),
    }),
);

/**
 * erasing: the scheduler is at work. waiting: attempts that began before may still report what they read. erased:
 * confirmed; the words that were looked for are forgotten too.
 */
export const RedactionView = z.strictObject({
  redactionId: z.int().positive(),
  knowledgeId: KnowledgeId,
  versions: z.array(FactRef),
  reason: z.string(),
  by: z.string(),
  at: UtcTime,
  revision: z.int().nonnegative(),
  state: z.enum(['erasing', 'waiting', 'erased']),
  erased: z.strictObject({
    rows: z.int().nonnegative(),
    objects: z.int().nonnegative(),
    messages: z.int().nonnegative(),
    tasks: z.array(TaskId),
  }),
  waitsFor: z.array(TaskId),
  confirmedAt: UtcTime.nullable(),
});
export type RedactionView = z.infer<typeof RedactionView>;

/** Redactions, newest first, and how far they are. */
export const FactRedactions = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'redactions', servedBy: 'gateway' },
  () => z.strictObject({ ...page, knowledgeId: KnowledgeId.optional(), open: z.boolean().optional() }),
  () => z.strictObject({ redactions: z.array(RedactionView), next: z.string().nullable() }),
);

/**
 * Stops believing everything that one task, or one document, contributed, in one revision. Give exactly one of the two.
 */
export const FactRetractSource = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'retract-source', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      taskId: TaskId.optional(),
      sourceRef: z.string().min(1).max(500).optional(),
      reason: Reason,
      /** Also what other sources confirm. */
      evenConfirmed: z.boolean().optional(),
      dryRun: z.boolean().optional(),
    }),
  () =>
    z.strictObject({
      revision: z.int().nonnegative(),
      /** Versions that are no longer believed; the first 1,000. */
      closed: z.array(FactRef),
      /** Versions that stay because other sources confirm them; the first 1,000. */
      kept: z.array(FactRef),
      facts: z.int().nonnegative(),
      /** Candidates that will not become facts now, and challengers in open disputes. */
      candidates: z.int().nonnegative(),
      disputes: z.int().nonnegative(),
    }),
);

/**
 * A person says whether a task's answer was right: the facts that it rests on gain or lose weight, and what
 * was wrong is put up for review.
 */
export const TaskFeedback = defineEndpoint(
  { plane: 'ctl', noun: 'task', verb: 'feedback', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      taskId: TaskId,
      verdict: z.enum(['wrong', 'right']),
      note: z.string().min(1).max(2_000).optional(),
      by: PersonName,
    }),
  () =>
    z.strictObject({
      taskId: TaskId,
      revision: z.int().nonnegative(),
      /** False: this person had already said the same of this answer. */
      counted: z.boolean(),
      facts: z.array(z.strictObject({ fact: FactRef, weightBefore: z.number(), weight: z.number() })),
      /** Open reviews about them. */
      reviews: z.array(z.int().positive()),
    }),
);

/** A fact version that somebody doubts, with everything that people said of the answers which rest on it. */
export const ReviewView = z.strictObject({
  reviewId: z.int().positive(),
  fact: FactRef,
  statement: z.string(),
  weight: z.number(),
  /** People, not messages. */
  wrong: z.int().nonnegative(),
  right: z.int().nonnegative(),
  said: z.array(
    z.strictObject({
      by: z.string(),
      verdict: z.enum(['wrong', 'right']),
      note: z.string().nullable(),
      taskId: TaskId,
      at: UtcTime,
    }),
  ),
  openedAt: UtcTime,
  /** `superseded`: the version is no longer believed. */
  state: z.enum(['open', 'closed', 'superseded']),
  closedBy: z.string().nullable(),
  outcome: z.string().nullable(),
});
export type ReviewView = z.infer<typeof ReviewView>;

export const FactReviews = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'reviews', servedBy: 'gateway' },
  () => z.strictObject({ ...page, knowledgeId: KnowledgeId.optional(), all: z.boolean().optional() }),
  () => z.strictObject({ reviews: z.array(ReviewView), next: z.string().nullable() }),
);

/**
 * A person has checked: the fact stays. (A fact that does not stay is retracted, which ends its review too.) Its weight
 * stays as the feedback left it, or is restored.
 */
export const FactReview = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'review', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      reviewId: z.int().positive(),
      by: PersonName,
      reason: Reason,
      /** Feedback given so far no longer counts. */
      restoreWeight: z.boolean().optional(),
    }),
  () =>
    z.strictObject({
      reviewId: z.int().positive(),
      fact: FactRef,
      revision: z.int().nonnegative(),
      weight: z.number(),
    }),
);

/**
 * What was proposed and what became of it: `raw` as it was on the blackboard, `clean` as the gate let it in (null: it
 * did not).
 */
export const KnowledgePair = z.strictObject({
  seq: z.int().positive(),
  candidateId: CandidateId,
  taskId: TaskId,
  stepId: StepId,
  saidAt: UtcTime,
  settledAt: UtcTime,
  revision: z.int().nonnegative(),
  decision: CandidateOutcome,
  reason: z.string().nullable(),
  fact: FactRef.nullable(),
  sourceType: SourceType,
  sourceRef: z.string(),
  knowledgeType: KnowledgeType,
  confidence: z.number(),
  raw: z.string(),
  rawSha256: Sha256,
  clean: z.string().nullable(),
  cleanSha256: Sha256.nullable(),
});
export type KnowledgePair = z.infer<typeof KnowledgePair>;

/**
 * Pairs in the order in which they were proposed, up to a revision (default: the latest). Redacted content is left out;
 * what identifies people is masked.
 */
export const FactPairs = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'pairs', servedBy: 'gateway' },
  () =>
    z.strictObject({
      after: z.string().max(300).optional(),
      limit: z.int().min(1).max(500).optional(),
      revision: z.int().nonnegative().optional(),
    }),
  () => z.strictObject({ pairs: z.array(KnowledgePair), revision: z.int().nonnegative(), next: z.string().nullable() }),
);
