import type { ClauseKind } from '../clause.ts';
import type { KindRules } from '../rule.ts';
import { assignment } from './assignment.ts';
import { confidentialityPeriod } from './confidentiality-period.ts';
import { disputeResolution } from './dispute-resolution.ts';
import { governingLaw } from './governing-law.ts';
import { ipOwnership } from './ip-ownership.ts';
import { latePaymentRate } from './late-payment-rate.ts';
import { liabilityCap } from './liability-cap.ts';
import { nonCompete } from './non-compete.ts';
import { paymentTerm } from './payment-term.ts';
import { renewal } from './renewal.ts';
import { severancePay } from './severance-pay.ts';
import { term } from './term.ts';
import { terminationNotice } from './termination-notice.ts';
import { warrantyPeriod } from './warranty-period.ts';

/** The rules of every kind. A kind without rules doesn't compile. */
export const KINDS: Readonly<Record<ClauseKind, KindRules>> = {
  payment_term: paymentTerm,
  late_payment_rate: latePaymentRate,
  liability_cap: liabilityCap,
  term,
  termination_notice: terminationNotice,
  renewal,
  confidentiality_period: confidentialityPeriod,
  governing_law: governingLaw,
  dispute_resolution: disputeResolution,
  assignment,
  ip_ownership: ipOwnership,
  warranty_period: warrantyPeriod,
  severance_pay: severancePay,
  non_compete: nonCompete,
};
