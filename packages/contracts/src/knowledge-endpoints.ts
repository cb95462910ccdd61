import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { AnyTime, FactRef, KnowledgeId, UtcTime } from './ids.ts';
import { AccessLevel, Candidate, FactImport, FactView, KnowledgeType } from './knowledge.ts';

/**
 * The best facts for a question, at the pin (defaults: now, last committed revision). The same pin always gives the
 * same hits.
 */
export const FactSearch = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'search', servedBy: 'gateway' },
  () =>
    z.strictObject({
      query: z.string().min(1).max(8_000),
      validAt: AnyTime.optional(),
      revision: z.int().nonnegative().optional(),
      knownAt: AnyTime.optional(),
      /** Default 8. */
      limit: z.int().min(1).max(50).optional(),
      prefix: z.string().max(200).optional(),
      knowledgeTypes: z.array(KnowledgeType).min(1).max(20).optional(),
      accessLevels: z.array(AccessLevel).min(1).max(3).optional(),
      tags: z.array(z.string().max(60)).min(1).max(20).optional(),
    }),
  () =>
    z.strictObject({
      hits: z.array(z.strictObject({ fact: FactView, score: z.number() })),
      revision: z.int().nonnegative(),
      validAt: UtcTime,
      /** The embedding space that was searched as well as the words; null: words alone. */
      space: z.string().nullable(),
    }),
);

/** Two statements of one fact between which nobody has decided yet. */
export const DisputeView = z.strictObject({
  disputeId: z.int().positive(),
  knowledgeId: KnowledgeId,
  incumbentVersion: z.int().nonnegative(),
  /** Everything that the other side says. */
  challenger: z.union([Candidate, FactImport]),
  reason: z.string(),
  openedAt: UtcTime,
  /** Null while it is open. */
  resolution: z.enum(['incumbent', 'challenger', 'both_wrong']).nullable(),
  resolvedBy: z.string().nullable(),
  resolvedAt: UtcTime.nullable(),
});
export type DisputeView = z.infer<typeof DisputeView>;

export const FactDisputes = defineEndpoint(
  { plane: 'qry', noun: 'fact', verb: 'disputes', servedBy: 'gateway' },
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId.optional(),
      all: z.boolean().optional(),
      limit: z.int().min(1).max(500).optional(),
    }),
  () => z.strictObject({ disputes: z.array(DisputeView) }),
);

/** A person decides a dispute. What was turned down is not raised again. */
export const FactResolve = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'resolve', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      disputeId: z.int().positive(),
      keep: z.enum(['incumbent', 'challenger', 'neither']),
      reason: z.string().min(1).max(500).optional(),
    }),
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      resolution: z.enum(['incumbent', 'challenger', 'both_wrong']),
      revision: z.int().nonnegative(),
      /** Versions that now say what won. */
      versions: z.array(z.int().positive()),
    }),
);

/** Stops believing a fact, or what one version says, for all time or for a period. Earlier revisions still show it. */
export const FactRetract = defineEndpoint(
  { plane: 'ctl', noun: 'fact', verb: 'retract', servedBy: 'knowledge-maintainer' },
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      /** Only this version; default all that are believed. */
      version: z.int().positive().optional(),
      /** It is no longer in force from here on; default: it never was. */
      from: AnyTime.optional(),
      until: AnyTime.optional(),
      reason: z.string().min(1).max(500),
    }),
  () =>
    z.strictObject({
      knowledgeId: KnowledgeId,
      revision: z.int().nonnegative(),
      /** Versions that are no longer believed. */
      closed: z.array(FactRef),
      /** New versions for the periods in which it stays in force. */
      remaining: z.array(FactRef),
    }),
);
