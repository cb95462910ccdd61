import type { ClauseKind } from './clause.ts';

/**
 * Policy facts this workflow understands. The subject names the kind of clause, the predicate the rule:
 *
 * | subject                                                | predicate                                  | value         | unit     |
 * | ------------------------------------------------------ | ------------------------------------------ | ------------- | -------- |
 * | contract.payment_term, .termination_notice             | max_days, min_days                         | calendar days | days     |
 * | contract.late_payment_rate                             | max_percent_per_year, min_percent_per_year | simple rate   | percent  |
 * | contract.liability_cap                                 | max_amount, min_amount                     | sum           | ISO 4217 |
 * | contract.liability_cap                                 | max_percent_of_price, min_percent_of_price | of the price  | percent  |
 * | contract.liability_cap                                 | max_multiple_of_fees, min_multiple_of_fees | times         | multiple |
 * | contract.term, .renewal, .confidentiality_period,      | max_months, min_months                     | months        | months   |
 * | .warranty_period, .severance_pay, .non_compete         |                                            |               |          |
 * | contract.governing_law, .dispute_resolution, .renewal, | one_of                                     | "A, B": what  | none     |
 * | .assignment, .ip_ownership                             |                                            | is accepted   |          |
 * | each of them                                           | required                                   | true or false | none     |
 *
 * What `one_of` is compared with is the clause's `choice` (see kinds/). A unit may be left out where
 * the predicate names it (all but amounts). Modality `must` (or `is`) counts fully; `should` and `may`
 * lower the severity by one level.
 */
export const POLICY_SUBJECTS: Readonly<Record<ClauseKind, string>> = {
  payment_term: 'contract.payment_term',
  late_payment_rate: 'contract.late_payment_rate',
  liability_cap: 'contract.liability_cap',
  term: 'contract.term',
  termination_notice: 'contract.termination_notice',
  renewal: 'contract.renewal',
  confidentiality_period: 'contract.confidentiality_period',
  governing_law: 'contract.governing_law',
  dispute_resolution: 'contract.dispute_resolution',
  assignment: 'contract.assignment',
  ip_ownership: 'contract.ip_ownership',
  warranty_period: 'contract.warranty_period',
  severance_pay: 'contract.severance_pay',
  non_compete: 'contract.non_compete',
};
