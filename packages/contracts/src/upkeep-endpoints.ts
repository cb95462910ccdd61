import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { AnyTime, FactRef, KnowledgeId, NewKnowledgeId, UtcTime } from './ids.ts';
import { AccessLevel, Assertion, CandidateOutcome, KnowledgeType } from './knowledge.ts';

/**
 * What one person says, as one statement. With an assertion it finds its fact by subject and predicate: another value
 * becomes a new version of that fact from now on (or from `validFrom`), the same value confirms it.
 */
export const FactAdd = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'add', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      statement: z.string().min(1).max(20_000),
      assertion: Assertion.optional(),
      /** Names one fact among several, or the id of a new one. */
      knowledgeId: NewKnowledgeId.optional(),
      /** Default `rule` with an assertion, else `other`. */
      knowledgeType: KnowledgeType.optional(),
      /** Who says so, or where it is written. Default `person`. */
      sourceRef: z.string().min(1).max(500).optional(),
      validFrom: AnyTime.optional(),
      validUntil: AnyTime.optional(),
      accessLevel: AccessLevel.optional(),
      tags: z.array(z.string().max(60)).max(50).optional(),
    }),
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      /** The version that now says so. */
      version: z.int().positive(),
      outcome: CandidateOutcome,
      reason: z.string(),
      revision: z.int().nonnegative(),
    }),
);

/** Something that laundering does, or would do. */
export const LaunderAction = z.discriminatedUnion('action', [
  /**
   * Two facts say the same for the same time: the lesser one is archived, and what rests on it then rests on the other
   * too.
   */
  z.strictObject({ action: z.literal('merge'), fact: FactRef, into: FactRef }),
  /** Two facts about the same subject and predicate say different things: a dispute is opened, nothing is decided. */
  z.strictObject({ action: z.literal('dispute'), fact: FactRef, challenger: FactRef }),
  /** Faded (importance below 0.2 by now) and unused for 30 days: no longer believed from the next revision on. */
  z.strictObject({
    action: z.literal('archive'),
    fact: FactRef,
    importance: z.number(),
    lastUsedAt: UtcTime.nullable(),
  }),
]);
export type LaunderAction = z.infer<typeof LaunderAction>;

/** Something for a person to look at; laundering itself changes nothing about it. */
export const LaunderProposal = z.strictObject({
  proposal: z.enum([
    /** People said the same twice, or for periods of which neither contains the other. */
    'duplicate',
    /** People say different things about the same subject and predicate. */
    'contradiction',
    /** Its last period ended and nothing replaced it. */
    'expired',
    /** Read again and again, but no answer ever rested on it: deprecate it, or reword it so that it can be used. */
    'never_cited',
  ]),
  fact: FactRef,
  /** The other one, of two. */
  other: FactRef.nullable(),
  detail: z.string().max(500),
});
export type LaunderProposal = z.infer<typeof LaunderProposal>;

/** How well the memory serves, from what is on record. Null if there is nothing to count. */
export const MemoryMeasures = z.strictObject({
  /** Of a sample of versions that agents wrote: how many nobody has retracted or corrected since. */
  writeAccuracy: z.number().min(0).max(1).nullable(),
  sampled: z.int().nonnegative(),
  /** Of the tasks that read facts and completed: how many cite one of those. */
  recallHitRate: z.number().min(0).max(1).nullable(),
  tasks: z.int().nonnegative(),
});
export type MemoryMeasures = z.infer<typeof MemoryMeasures>;

export const LaunderReport = z.strictObject({
  /** Null for a preview, which is not kept. */
  reportId: z.int().positive().nullable(),
  startedAt: UtcTime,
  finishedAt: UtcTime,
  askedBy: z.enum(['person', 'timetable']),
  /** The last version believed when it ended. */
  revision: z.int().nonnegative(),
  actions: z.array(LaunderAction),
  proposals: z.array(LaunderProposal),
  /** There was more than one run handles: the next run goes on. */
  more: z.boolean(),
  measures: MemoryMeasures,
});
export type LaunderReport = z.infer<typeof LaunderReport>;

/** Launders a tenant's knowledge now, or previews it. */
export const KnowledgeLaunder = defineEndpoint(
  { plane: 'ctl', noun: 'knowledge', verb: 'launder', servedBy: 'knowledge-maintainer' },
  () => z.strictObject({ dryRun: z.boolean().optional() }),
  () => LaunderReport,
);

/** Reports of earlier runs, newest first; one by its number. */
export const KnowledgeReports = defineEndpoint(
  { plane: 'qry', noun: 'knowledge', verb: 'reports', servedBy: 'gateway' },
  () => z.strictObject({ reportId: z.int().positive().optional(), limit: z.int().min(1).max(100).optional() }),
  () => z.strictObject({ reports: z.array(LaunderReport) }),
);

/** Believes an archived fact again, from the next revision on. */
export const FactUnarchive = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'unarchive', servedBy: 'knowledge-maintainer' },
  () => z.strictObject({ knowledgeId: KnowledgeId }),
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      revision: z.int().nonnegative(),
      /** Versions that say it again. */
      versions: z.array(z.int().positive()),
    }),
);
