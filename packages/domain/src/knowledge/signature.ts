import { hash } from 'node:crypto';
import { type Assertion, canonicalJson } from '@cleanslate/contracts';
import { foldWidth } from '../quantities/fold-width.ts';
import { formatDecimal, parseDecimal } from '../quantities/index.ts';
import { findHardFeatures, findTextFeatures } from './text-features.ts';

// A leading zero makes it a code ("000001"), not a number.
const NUMERAL = /^-?(?:0|[1-9][\d,]{0,40})(?:\.\d{1,20})?$/;

const UNITS: ReadonlyMap<string, string> = new Map([
  ...['day', 'days', '天', '日', 'calendar days', '自然日', '日历日'].map((unit) => [unit, 'days'] as const),
  ...['business day', 'business days', 'business_days', 'working days', '工作日'].map(
    (unit) => [unit, 'business_days'] as const,
  ),
  ...['month', 'months', '月', '个月'].map((unit) => [unit, 'months'] as const),
  ...['year', 'years', '年'].map((unit) => [unit, 'years'] as const),
  ...['%', 'percent', 'per cent', '百分比'].map((unit) => [unit, 'percent'] as const),
]);

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Lower case, one width, single spaces: "Payment  Term" and "ｐayment term" are one subject. */
export function normaliseName(text: string): string {
  return foldWidth(text.normalize('NFKC')).toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Key under which candidates find their fact: the same subject and predicate, however spelled. */
export function factKeyOf(assertion: Pick<Assertion, 'subject' | 'predicate'>): string {
  return sha256(`${normaliseName(assertion.subject)}\u001f${normaliseName(assertion.predicate)}`);
}

/**
 * Hash of what decides sameness. Equal only if subject, predicate, value, unit, polarity and modality are equal *and*
 * the wording contains the same numbers, units, dates, negations and modal verbs; without an assertion also the same
 * content words. Similarity never suffices.
 */
export function signatureOf(statement: string, assertion: Assertion | null): string {
  if (assertion === null) return sha256(canonicalJson(findTextFeatures(statement)));
  const { unit, polarity, modality, value } = assertion;
  return sha256(
    canonicalJson({
      ...findHardFeatures(statement),
      key: factKeyOf(assertion),
      value: toValue(value),
      unit: toUnit(unit),
      polarity,
      modality,
    }),
  );
}

function toValue(value: string): string {
  const name = normaliseName(value);
  const decimal = NUMERAL.test(name) ? parseDecimal(name) : null;
  return decimal === null ? name : formatDecimal(decimal);
}

function toUnit(unit: string | null): string | null {
  if (unit === null) return null;
  const name = normaliseName(unit);
  return UNITS.get(name) ?? name;
}
