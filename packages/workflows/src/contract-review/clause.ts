import type { Period, Span } from '@cleanslate/domain';

/** A passage of the document, and its page where the document has pages. */
export interface Passage extends Span {
  readonly page?: number | undefined;
}

export const CLAUSE_KINDS = [
  'payment_term',
  'late_payment_rate',
  'liability_cap',
  'term',
  'termination_notice',
  'renewal',
  'confidentiality_period',
  'governing_law',
  'dispute_resolution',
  'assignment',
  'ip_ownership',
  'warranty_period',
  'severance_pay',
  'non_compete',
] as const;
export type ClauseKind = (typeof CLAUSE_KINDS)[number];

export const CLAUSE_UNITS = [
  'days',
  'business_days',
  'weeks',
  'months',
  'years',
  'percent',
  'multiple',
  'amount',
] as const;
export type ClauseUnit = (typeof CLAUSE_UNITS)[number];

/**
 * What the clause fixes. The value is null for all but `stated`, `fixed_amount`,
 * `multiple_of_fees`, `percent_of_price`.
 */
export const CLAUSE_BASES = [
  /** A number of days, or a rate. */
  'stated',
  'fixed_amount',
  /** The fees or amounts paid, without a factor: one times the fees. */
  'fees_paid',
  'multiple_of_fees',
  'percent_of_price',
  /** Computed from several things: prime plus 2%, the greater of a sum and the fees. */
  'formula',
  /** Fixed by another document or section ("the Default Rate of the Loan Agreement"). */
  'reference',
  /** Left open in the text: "within ____ days", "[**]". */
  'blank',
  /** By instalments or dates, not by a period. */
  'schedule',
  /** It has no end: perpetual, until terminated, as long as something is secret. */
  'indefinite',
  /** It settles a question rather than a number: which law, who owns, whether a consent is needed. See `choice`. */
  'provision',
  /** Kinds of damages are excluded, but no ceiling is set. */
  'exclusion_only',
] as const;
export type ClauseBasis = (typeof CLAUSE_BASES)[number];

export const CLAUSE_NOTES = [
  /** Words and digits name different numbers. */
  'numbers_disagree',
  /** "or the highest rate allowed by law, whichever is less". */
  'or_legal_maximum',
  /** The rate has no period: it is charged once. */
  'charged_once',
  /** The ceiling is what was paid in a period (the last twelve months), not all that was paid. */
  'fees_of_a_period',
  /** Several clauses name different values, or different owners or laws; the primary one is judged. */
  'other_values_elsewhere',
] as const;
export type ClauseNote = (typeof CLAUSE_NOTES)[number];

export interface Quoted {
  readonly quote: string;
  /** UTF-16 offsets: `text.slice(span.start, span.end) === quote`. */
  readonly span: Passage;
}

/** What a clause says, apart from where. */
export interface ClauseReading {
  /** Plain decimal. */
  readonly value: string | null;
  readonly unit: ClauseUnit | null;
  readonly per: Period | null;
  readonly currency: string | null;
  /** What a clause that fixes no number decides: "arbitration", "automatic", "consent_required", the name of a law. */
  readonly choice: string | null;
  readonly basis: ClauseBasis;
  readonly notes: readonly ClauseNote[];
}

export interface PresentClause extends ClauseReading, Quoted {
  readonly kind: ClauseKind;
  readonly present: true;
  /** 0…1: how sure the rules are that this is the clause meant and that it was read right. */
  readonly confidence: number;
  /** Other passages of the same kind, best first. */
  readonly supporting: readonly Quoted[];
}

export interface MissingClause {
  readonly kind: ClauseKind;
  readonly present: false;
  readonly confidence: number;
}

export type Clause = PresentClause | MissingClause;
