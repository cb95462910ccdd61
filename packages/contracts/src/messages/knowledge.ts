import { z } from 'zod';
import { Fence } from '../fence.ts';
import { CandidateId, FactRef, KnowledgeId, Sha256, TaskId, UtcTime } from '../ids.ts';
import { Candidate, CandidateOutcome } from '../knowledge.ts';
import { defineMessage } from '../message.ts';

/** Fact versions that may be collected from one output, at most. */
export const MAX_FACT_REFS = 1_000;

/**
 * Blackboard: a candidate, with the proposer's claim in the envelope (`taskid, stepid, attempt, claimid, candidateid`).
 */
export const KnowledgePropose = defineMessage({ name: 'knowledge.propose', version: 1, data: Candidate });

/**
 * Command to the maintainer: the task is over; these claims won, these are their candidates. Repeated until confirmed.
 */
export const KnowledgeSettle = defineMessage({
  name: 'knowledge.settle',
  version: 2,
  // Version 1 carried no usage.
  upcasters: { 1: (data) => data },
  minReader: 1,
  data: z.strictObject({
    taskId: TaskId,
    /**
     * passed: release. unvalidated: screen as model-derived. held: a failed task keeps its
     * candidates until retry or retention.
     */
    verdict: z.enum(['passed', 'unvalidated', 'held']),
    validatorScore: z.number().min(0).max(1).nullable(),
    claims: z.array(
      z.strictObject({
        ...Fence.pick({ stepId: true, attempt: true, claimId: true }).shape,
        candidates: z.array(CandidateId),
      }),
    ),
    /** Fact versions that entered the task, with the step that brought each in first, best first. */
    reads: z
      .array(
        z.strictObject({
          ...Fence.pick({ stepId: true, attempt: true }).shape,
          at: UtcTime,
          facts: z.array(FactRef).min(1).max(MAX_FACT_REFS),
        }),
      )
      .default([]),
    /** What the result of a completed task names as its grounds; null if it names none. */
    answer: z
      .strictObject({
        at: UtcTime,
        /** The moment the question was about; null: the present, so that the answer ages with what it rests on. */
        holdsAt: UtcTime.nullable(),
        facts: z.array(FactRef).min(1).max(MAX_FACT_REFS),
      })
      .nullable()
      .default(null),
  }),
});
export type KnowledgeSettle = z.infer<typeof KnowledgeSettle.data>;

/** Event on `evt.knowledge.<tenant>.settled`: what became of a task's candidates. Confirms `knowledge.settle`. */
export const CandidatesSettled = defineMessage({
  name: 'candidates.settled',
  version: 1,
  data: z.strictObject({
    taskId: TaskId,
    revision: z.int().nonnegative(),
    outcomes: z.array(
      z.strictObject({
        candidateId: CandidateId,
        outcome: CandidateOutcome,
        knowledgeId: KnowledgeId.nullable(),
        version: z.int().positive().nullable(),
      }),
    ),
    /** Listed in the settle command, but not seen on the blackboard yet. */
    missing: z.array(CandidateId),
  }),
});
export type CandidatesSettled = z.infer<typeof CandidatesSettled.data>;

/**
 * Event on `evt.knowledge.<tenant>.<knowledgeId>`: ids and hashes, never statements. A fact
 * counts as available only now.
 */
export const FactChanged = defineMessage({
  name: 'fact.changed',
  version: 1,
  data: z.strictObject({
    change: z.enum([
      'accepted',
      'duplicate',
      'updated',
      'disputed',
      'rejected',
      'retracted',
      'expired',
      'archived',
      'redacted',
    ]),
    knowledgeId: KnowledgeId,
    version: z.int().positive().nullable(),
    revision: z.int().nonnegative(),
    contentHash: Sha256.nullable(),
    taskId: TaskId.nullable(),
    reason: z.string().max(500).nullable(),
  }),
});
export type FactChanged = z.infer<typeof FactChanged.data>;
