import {
  compareDecimals,
  type Decimal,
  decimalOf,
  foldWidth,
  multiplyDecimals,
  parseDecimal,
  shiftLeft,
  toCalendarDays,
  toMonths,
  toPercentPerYear,
} from '@cleanslate/domain';
import type { Clause, ClauseKind, PresentClause } from './clause.ts';
import type { ChoiceRule, LimitRule, Measure, PolicyRule } from './policy.ts';
import type { Problem, Severity } from './schemas.ts';

/** A clause's value on the scale of the rule, and the conversion used. */
export interface Comparable {
  readonly value: Decimal;
  /** × this factor; null when the clause already has the rule's unit. */
  readonly factor: string | null;
}

export interface Judgement {
  readonly problem: Problem | null;
  /** Null when the clause complies. */
  readonly severity: Severity | null;
  readonly comparable: Comparable | null;
}

const LEVELS = ['LOW', 'MEDIUM', 'HIGH'] as const;

/** How much a missing required clause matters: an open liability most, what the law also provides least. */
const MISSING: Readonly<Record<ClauseKind, Severity>> = {
  payment_term: 'MEDIUM',
  late_payment_rate: 'LOW',
  liability_cap: 'HIGH',
  term: 'MEDIUM',
  termination_notice: 'MEDIUM',
  renewal: 'LOW',
  confidentiality_period: 'MEDIUM',
  governing_law: 'MEDIUM',
  dispute_resolution: 'MEDIUM',
  assignment: 'LOW',
  ip_ownership: 'HIGH',
  warranty_period: 'MEDIUM',
  severance_pay: 'MEDIUM',
  non_compete: 'MEDIUM',
};

function lower(severity: Severity, advisory: boolean): Severity {
  return advisory ? (LEVELS[Math.max(0, LEVELS.indexOf(severity) - 1)] ?? 'LOW') : severity;
}

/** By how much the limit is missed: up to a quarter LOW, up to double MEDIUM, beyond that HIGH. */
function gradeExcess(larger: Decimal, smaller: Decimal): Severity {
  if (compareDecimals(larger, multiplyDecimals(smaller, { digits: 125n, scale: 2 })) <= 0) return 'LOW';
  return compareDecimals(larger, multiplyDecimals(smaller, decimalOf(2))) <= 0 ? 'MEDIUM' : 'HIGH';
}

function capAs(clause: PresentClause, measure: Measure, unit: string | null): Comparable | null {
  const value = clause.value === null ? null : parseDecimal(clause.value);
  if (measure === 'amount') {
    return clause.basis === 'fixed_amount' && value !== null && clause.currency === unit
      ? { value, factor: null }
      : null;
  }
  // The fees paid are one time the fees, 100% of the price.
  if (clause.basis === 'fees_paid') return { value: decimalOf(measure === 'multiple_of_fees' ? 1 : 100), factor: null };
  if (value === null) return null;
  if (clause.basis === 'percent_of_price') {
    return measure === 'percent_of_price' ? { value, factor: null } : { value: shiftLeft(value, 2), factor: '0.01' };
  }
  if (clause.basis !== 'multiple_of_fees') return null;
  return measure === 'multiple_of_fees'
    ? { value, factor: null }
    : { value: multiplyDecimals(value, decimalOf(100)), factor: '100' };
}

/** The clause's value as the rule measures it; null if they can't be compared. */
function toComparable(clause: PresentClause, measure: Measure, unit: string | null): Comparable | null {
  const { value, unit: counts } = clause;
  if (measure === 'days' || measure === 'months') {
    if (value === null || counts === null || counts === 'percent' || counts === 'multiple' || counts === 'amount')
      return null;
    return measure === 'days' ? toCalendarDays(value, counts) : toMonths(value, counts);
  }
  if (measure === 'percent_per_year') {
    return clause.value === null || clause.unit !== 'percent' ? null : toPercentPerYear(clause.value, clause.per);
  }
  return capAs(clause, measure, unit);
}

/** What never ends is longer than any limit, and keeps to every minimum. */
function judgeEndless(rule: LimitRule): Judgement {
  return rule.bound === 'max'
    ? { problem: 'above_maximum', severity: lower('MEDIUM', rule.advisory), comparable: null }
    : { problem: null, severity: null, comparable: null };
}

function normalize(choice: string): string {
  return foldWidth(choice)
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim();
}

/** "New York" accepts "New York" and "the United States and New York", not "York". */
function accepts(accepted: string, choice: string): boolean {
  const wanted = normalize(accepted);
  return normalize(choice)
    .split(/ and |、/)
    .some((part) => part.trim() === wanted);
}

function judgeChoice(rule: ChoiceRule, { choice }: PresentClause): Judgement {
  if (choice === null) return { problem: 'not_comparable', severity: lower('LOW', rule.advisory), comparable: null };
  if (rule.accepted.some((accepted) => accepts(accepted, choice)))
    return { problem: null, severity: null, comparable: null };
  return { problem: 'not_accepted', severity: lower('MEDIUM', rule.advisory), comparable: null };
}

function judgeLimit(rule: LimitRule, clause: PresentClause): Judgement {
  if (clause.basis === 'indefinite') return judgeEndless(rule);
  // What was paid in a month is at most all that was paid, and may be next to nothing.
  const unbounded = rule.bound === 'min' && clause.notes.includes('fees_of_a_period');
  const comparable = unbounded ? null : toComparable(clause, rule.measure, rule.unit);
  if (comparable === null) {
    const problem =
      clause.basis === 'blank' ? 'left_blank' : clause.basis === 'exclusion_only' ? 'no_ceiling' : 'not_comparable';
    const severity = lower(problem === 'not_comparable' ? 'LOW' : 'MEDIUM', rule.advisory);
    return { problem, severity, comparable };
  }
  const order = compareDecimals(comparable.value, rule.limit);
  const above = rule.bound === 'max' && order > 0;
  const below = rule.bound === 'min' && order < 0;
  if (!above && !below) return { problem: null, severity: null, comparable };
  const grade = above ? gradeExcess(comparable.value, rule.limit) : gradeExcess(rule.limit, comparable.value);
  return { problem: above ? 'above_maximum' : 'below_minimum', severity: lower(grade, rule.advisory), comparable };
}

/** Compares one clause with one rule. Pure and exact: the same clause and rule always give the same severity. */
export function judge(rule: PolicyRule, clause: Clause): Judgement {
  if (!clause.present) {
    const severity = rule.type === 'required' ? MISSING[rule.kind] : 'LOW';
    return { problem: 'missing', severity: lower(severity, rule.advisory), comparable: null };
  }
  if (rule.type === 'limit') return judgeLimit(rule, clause);
  if (rule.type === 'choice') return judgeChoice(rule, clause);
  const problem = clause.basis === 'exclusion_only' ? 'no_ceiling' : clause.basis === 'blank' ? 'left_blank' : null;
  return { problem, severity: problem === null ? null : lower('MEDIUM', rule.advisory), comparable: null };
}

/**
 * The rules that apply to a clause. One deviation is reported once: if the required clause is missing, blank or without
 * a ceiling, its limits add nothing; if no rule requires a missing clause, its first limit reports it.
 */
export function rulesFor(rules: readonly PolicyRule[], clause: Clause): readonly PolicyRule[] {
  const own = rules.filter(({ kind }) => kind === clause.kind);
  const required = own.filter(({ type }) => type === 'required');
  const limits = own.filter(({ type }) => type !== 'required');
  const unread = !clause.present || clause.basis === 'blank' || clause.basis === 'exclusion_only';
  if (!unread) return own;
  return required.length > 0 ? required : limits.slice(0, 1);
}
