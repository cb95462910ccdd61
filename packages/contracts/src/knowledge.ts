import { z } from 'zod';
import { FactRef, KnowledgeId, NewKnowledgeId, Sha256, TenantId, UtcTime, ValidTime } from './ids.ts';

export const KnowledgeType = z.enum([
  'clause',
  'rule',
  'metadata',
  'preference',
  'conclusion',
  'lesson',
  'definition',
  'other',
]);
export type KnowledgeType = z.infer<typeof KnowledgeType>;
/** Half-life differs by layer: working hours, reflection days, core weeks. */
export const KnowledgeLayer = z.enum(['core', 'working', 'reflection']);
export type KnowledgeLayer = z.infer<typeof KnowledgeLayer>;
export const SourceType = z.enum(['human_confirmed', 'internal_document', 'external_source', 'model_inference']);
export type SourceType = z.infer<typeof SourceType>;
export const AccessLevel = z.enum(['public', 'internal', 'restricted']);
export type AccessLevel = z.infer<typeof AccessLevel>;
export const Sensitivity = z.enum(['none', 'personal', 'secret']);
export type Sensitivity = z.infer<typeof Sensitivity>;
export const Polarity = z.enum(['positive', 'negative']);
export const Modality = z.enum(['is', 'may', 'should', 'must']);

/** What a statement says, in a form that can be compared. Values are strings so that no digit is ever lost. */
export const Assertion = z.strictObject({
  subject: z.string().min(1).max(200),
  predicate: z.string().min(1).max(200),
  value: z.string().max(2_000),
  unit: z.string().max(40).nullable(),
  polarity: Polarity,
  modality: Modality,
});
export type Assertion = z.infer<typeof Assertion>;

/**
 * Something this version rests on no longer stands: `cause` was superseded, retracted (now unknown) or expired, as of
 * revision `since`.
 */
export const FactMark = z.strictObject({
  cause: FactRef,
  kind: z.enum(['superseded', 'retracted', 'expired']),
  since: z.int().nonnegative(),
});
export type FactMark = z.infer<typeof FactMark>;

/** One version of a fact as a reader sees it at a pin. */
export const FactView = z.strictObject({
  tenantId: TenantId,
  knowledgeId: KnowledgeId,
  version: z.int().positive(),
  statement: z.string(),
  assertion: Assertion.nullable(),
  knowledgeType: KnowledgeType,
  layer: KnowledgeLayer,
  sourceType: SourceType,
  sourceRef: z.string(),
  weight: z.number(),
  confidence: z.number(),
  importance: z.number(),
  accessLevel: AccessLevel,
  sensitivity: Sensitivity,
  contentHash: Sha256,
  tags: z.array(z.string()),
  /** Valid time, UTC, `[from, until)`; null is unbounded. */
  validFrom: UtcTime.nullable(),
  validUntil: UtcTime.nullable(),
  /** Knowledge revisions in which this version was believed, `[from, until)`; null: still. */
  revisionFrom: z.int().nonnegative(),
  revisionUntil: z.int().nonnegative().nullable(),
  /** Disputes open at the pin; left out if there are none. */
  marks: z.array(FactMark).optional(),
  disputes: z.array(z.int().positive()).optional(),
  /** Its content was erased on request: the statement is a tombstone, its hash a keyed one. */
  redacted: z
    .strictObject({ redactionId: z.int().positive(), at: UtcTime, by: z.string(), reason: z.string() })
    .optional(),
});
export type FactView = z.infer<typeof FactView>;

/** Knowledge proposed on the blackboard. */
export const Candidate = z.strictObject({
  statement: z.string().min(1).max(20_000),
  assertion: Assertion.nullable(),
  /** Given if the proposer means a known fact; otherwise the maintainer matches by key. */
  knowledgeId: NewKnowledgeId.optional(),
  knowledgeType: KnowledgeType,
  layer: KnowledgeLayer.optional(),
  sourceType: SourceType,
  sourceRef: z.string().min(1).max(500),
  confidence: z.number().min(0).max(1),
  importance: z.number().min(0).max(1),
  accessLevel: AccessLevel.optional(),
  sensitivity: Sensitivity.optional(),
  validFrom: ValidTime.nullable().optional(),
  validUntil: ValidTime.nullable().optional(),
  derivedFrom: z.array(FactRef).max(200),
  tags: z.array(z.string().max(60)).max(50),
});
export type Candidate = z.infer<typeof Candidate>;

/** What became of a candidate or imported period. */
export const CandidateOutcome = z.enum(['accepted', 'duplicate', 'updated', 'disputed', 'rejected', 'dropped']);
export type CandidateOutcome = z.infer<typeof CandidateOutcome>;

/** One period of an imported fact. */
export const FactPeriod = z.strictObject({
  value: z.string().max(2_000),
  statement: z.string().min(1).max(20_000),
  validFrom: ValidTime.nullable(),
  validUntil: ValidTime.nullable(),
});
/** A fact as people import it: an identity and one or more periods that don't overlap. */
export const FactImport = z.strictObject({
  knowledgeId: NewKnowledgeId,
  subject: z.string().min(1).max(200),
  predicate: z.string().min(1).max(200),
  unit: z.string().max(40).nullable(),
  polarity: Polarity,
  modality: Modality,
  knowledgeType: KnowledgeType,
  tags: z.array(z.string().max(60)).max(50),
  periods: z.array(FactPeriod).min(1).max(200),
});
export type FactImport = z.infer<typeof FactImport>;
