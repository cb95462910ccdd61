import { FactRef, Sha256, UtcTime } from '@cleanslate/contracts';
import { z } from 'zod';
import { CLAUSE_BASES, CLAUSE_KINDS, CLAUSE_NOTES, CLAUSE_UNITS } from './clause.ts';

/** Larger quotes don't help a reader; a sentence is cut at 4,000 code units. */
const MAX_QUOTE = 8_000;

export const Severity = z.enum(['LOW', 'MEDIUM', 'HIGH']);
export type Severity = z.infer<typeof Severity>;

export const Language = z.enum(['en', 'zh']);
export type Language = z.infer<typeof Language>;

/** UTF-16 code units, half-open. */
export const SpanRecord = z.strictObject({
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  /** From 1; absent where the document has no pages. */
  page: z.int().positive().optional(),
});

const DecimalText = z.string().regex(/^-?\d{1,40}(?:\.\d{1,20})?$/, 'a plain decimal such as "1.5"');
const Per = z.enum(['day', 'week', 'month', 'year']);
const Confidence = z.number().min(0).max(1);

const QuotedRecord = z.strictObject({ quote: z.string().min(1).max(MAX_QUOTE), span: SpanRecord });

/** What a clause was read as. */
export const Reading = z.strictObject({
  value: DecimalText.nullable(),
  unit: z.enum(CLAUSE_UNITS).nullable(),
  per: Per.nullable(),
  currency: z.string().length(3).nullable(),
  choice: z.string().min(1).max(100).nullable(),
  basis: z.enum(CLAUSE_BASES),
});
export type Reading = z.infer<typeof Reading>;

export const ClauseRecord = z.discriminatedUnion('present', [
  z.strictObject({
    kind: z.enum(CLAUSE_KINDS),
    present: z.literal(true),
    quote: z.string().min(1).max(MAX_QUOTE),
    span: SpanRecord,
    ...Reading.shape,
    notes: z.array(z.enum(CLAUSE_NOTES)).max(CLAUSE_NOTES.length).readonly(),
    confidence: Confidence,
    supporting: z.array(QuotedRecord).max(10).readonly(),
  }),
  z.strictObject({ kind: z.enum(CLAUSE_KINDS), present: z.literal(false), confidence: Confidence }),
]);
export type ClauseRecord = z.infer<typeof ClauseRecord>;

/** What the policy asks for: `max_days` 30 `days`. */
export const Expected = z.strictObject({
  predicate: z.string().min(1).max(200),
  value: z.string().max(100),
  unit: z.string().max(40).nullable(),
});
export type Expected = z.infer<typeof Expected>;

export const Problem = z.enum([
  /** The contract has no clause of this kind. */
  'missing',
  'above_maximum',
  'below_minimum',
  /** The clause decides otherwise than the policy accepts: another law, arbitration instead of courts. */
  'not_accepted',
  /** The clause excludes damages but sets no ceiling. */
  'no_ceiling',
  /** The clause has a blank in place of its number. */
  'left_blank',
  /** The clause can't be compared with the policy's number: a formula, a reference, another currency. */
  'not_comparable',
]);
export type Problem = z.infer<typeof Problem>;

const Statement = z.string().min(1).max(4_000);

/** A deviation from a policy. A missing clause has an empty quote and no span. */
export const Finding = z.strictObject({
  clause: z.enum(CLAUSE_KINDS),
  quote: z.string().max(MAX_QUOTE),
  span: SpanRecord.nullable(),
  policy: FactRef,
  severity: Severity,
  problem: Problem,
  found: Reading.nullable(),
  expected: Expected,
  explanation: Statement,
  confidence: Confidence,
});
export type Finding = z.infer<typeof Finding>;

/** A clause that keeps to a policy, so that a reader sees what was checked. */
export const Compliant = z.strictObject({
  clause: z.enum(CLAUSE_KINDS),
  quote: z.string().min(1).max(MAX_QUOTE),
  span: SpanRecord,
  policy: FactRef,
  found: Reading,
  expected: Expected,
  explanation: Statement,
  confidence: Confidence,
});
export type Compliant = z.infer<typeof Compliant>;

/** A fact version that a finding rests on, as it was given. */
export const CitedPolicy = z.strictObject({
  policy: FactRef,
  statement: z.string().max(20_000),
  validFrom: UtcTime.nullable(),
  validUntil: UtcTime.nullable(),
});
export type CitedPolicy = z.infer<typeof CitedPolicy>;

/** A fact about one of these clauses that no rule can apply, and why: never silently skipped. */
export const UnusedPolicy = z.strictObject({ policy: FactRef, why: z.string().min(1).max(500) });
export type UnusedPolicy = z.infer<typeof UnusedPolicy>;

/** Passages that address a machine rather than the parties: shown, and never followed. */
const Suspicious = z.array(QuotedRecord).max(20).readonly().default([]);

const MODEL_REFUSALS = [
  'malformed',
  'unknown_kind',
  /** The rules read that kind of clause: what they found stands. */
  'settled_by_rules',
  'no_policy',
  /** It is not a sentence of the document, word for word. */
  'not_quoted',
  'not_unique',
  'suspicious',
  /** The sentence has none of the words that every clause of that kind contains. */
  'other_kind',
  /** It says what somebody may do, and binds nobody. */
  'permission',
  /** It says what is not so: the opposite of what its number or name suggests may be true. */
  'negated',
  'figure_not_quoted',
  'figure_ambiguous',
  'choice_not_quoted',
  'repeated',
  /** Two passages for one kind that read differently: neither counts. */
  'contradictory',
] as const;
export type ModelRefusal = (typeof MODEL_REFUSALS)[number];

/**
 * A passage that a model pointed at, of a kind of which the rules found no clause: read and compared by the rules' own
 * code. `problem` null: it complies.
 */
export const ModelReading = z.strictObject({
  clause: z.enum(CLAUSE_KINDS),
  quote: z.string().min(1).max(MAX_QUOTE),
  span: SpanRecord,
  policy: FactRef,
  severity: Severity.nullable(),
  problem: Problem.nullable(),
  found: Reading,
  expected: Expected,
  explanation: Statement,
  confidence: Confidence,
});
export type ModelReading = z.infer<typeof ModelReading>;

/** What a model added, apart from what the rules found; absent if none is configured. */
export const ModelPart = z.strictObject({
  name: z.string().min(1).max(200),
  outcome: z.enum(['not_needed', 'asked', 'failed']),
  /** Code of the error, if it gave no answer. */
  error: z.string().max(100).nullable(),
  /** Passages for which there was no room in the question. */
  unread: z.int().nonnegative(),
  readings: z.array(ModelReading).max(100).readonly(),
  /** Items of its answer that failed a check: none was repaired. */
  dropped: z
    .array(z.strictObject({ reason: z.enum(MODEL_REFUSALS), count: z.int().positive() }))
    .max(20)
    .readonly(),
});
export type ModelPart = z.infer<typeof ModelPart>;

/** Most comparisons of one review. With more policies the review is refused as too large; none is left out. */
const MAX_APPLIED = 1_000;
/** For each of fourteen subjects, a page of what nobody vouched for. */
const MAX_UNUSED = 3_000;

/** What the analyzer hands to the generator. */
export const Analysis = z.strictObject({
  language: Language,
  clauses: z.array(ClauseRecord).max(20).readonly(),
  findings: z.array(Finding).max(MAX_APPLIED).readonly(),
  compliant: z.array(Compliant).max(MAX_APPLIED).readonly(),
  policies: z.array(CitedPolicy).max(MAX_APPLIED).readonly(),
  unused: z.array(UnusedPolicy).max(MAX_UNUSED).readonly(),
  suspicious: Suspicious,
  model: ModelPart.optional(),
});
export type Analysis = z.infer<typeof Analysis>;

export const Evidence = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('document'),
    sha256: Sha256,
    quote: z.string().min(1).max(MAX_QUOTE),
    span: SpanRecord,
    /** The cited passage that an explanation holds this one against; absent for cited passages themselves. */
    beside: SpanRecord.optional(),
  }),
  z.strictObject({ type: z.literal('fact'), ...CitedPolicy.shape }),
]);
export type Evidence = z.infer<typeof Evidence>;

/** Which document was reviewed, against which knowledge. */
export const ReportSubject = z.strictObject({
  document: z.strictObject({ name: z.string().min(1).max(255), sha256: Sha256, bytes: z.int().positive() }),
  pin: z.strictObject({ validAt: UtcTime, revision: z.int().nonnegative() }),
});
export type ReportSubject = z.infer<typeof ReportSubject>;

/** The deliverable, for machines; `markdown` is the same for people. */
export const ContractReport = z.strictObject({
  ...ReportSubject.shape,
  language: Language,
  summary: z.strictObject({
    high: z.int().nonnegative(),
    medium: z.int().nonnegative(),
    low: z.int().nonnegative(),
    compliant: z.int().nonnegative(),
    missing: z.array(z.enum(CLAUSE_KINDS)).readonly(),
  }),
  findings: z.array(Finding).max(MAX_APPLIED).readonly(),
  compliant: z.array(Compliant).max(MAX_APPLIED).readonly(),
  evidence: z
    .array(Evidence)
    .max(2 * MAX_APPLIED)
    .readonly(),
  /** Policies that could not be applied; what they require was not checked. */
  unapplied: z.array(UnusedPolicy).max(MAX_UNUSED).readonly().default([]),
  /** What the contract says on each kind of clause, whether or not a policy asks. */
  clauses: z.array(ClauseRecord).max(20).readonly().default([]),
  suspicious: Suspicious,
  model: ModelPart.optional(),
  markdown: z.string().min(1).max(500_000),
});
export type ContractReport = z.infer<typeof ContractReport>;
