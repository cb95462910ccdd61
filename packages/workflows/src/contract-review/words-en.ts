import type { ClauseKind, ClauseNote, PresentClause } from './clause.ts';
import type { Force, Unusable } from './policy.ts';
import type { Problem } from './schemas.ts';
import { cut, type Words } from './words.ts';

const KINDS: Readonly<Record<ClauseKind, string>> = {
  payment_term: 'payment term',
  late_payment_rate: 'late-payment rate',
  liability_cap: 'liability cap',
  term: 'term',
  termination_notice: 'notice or cure period of termination',
  renewal: 'renewal',
  confidentiality_period: 'confidentiality period',
  governing_law: 'governing law',
  dispute_resolution: 'dispute resolution',
  assignment: 'assignment',
  ip_ownership: 'ownership of intellectual property',
  warranty_period: 'warranty period',
  severance_pay: 'severance pay',
  non_compete: 'non-compete period',
};

const BASES: Readonly<Record<string, string>> = {
  fees_paid: 'the fees or amounts paid',
  formula: 'a formula without one fixed number',
  reference: 'fixed by another document or section',
  blank: 'left blank',
  schedule: 'fixed by dates, not by a period',
  indefinite: 'without a fixed end',
  provision: 'settled without a number',
  exclusion_only: 'an exclusion of kinds of damages without a ceiling',
};

/** Where a word of one kind says it better. */
const OF_KIND: Partial<Record<ClauseKind, Readonly<Record<string, string>>>> = {
  payment_term: { schedule: 'by instalments or dates, not by a period' },
};

const CHOICES: Readonly<Record<string, string>> = {
  by_agreement: 'by agreement of the parties',
  by_option: 'at the option of a party',
  consent_required: 'only with consent',
  cure: 'to cure a breach',
  convenience: 'of notice',
};

const ASKS: Readonly<Record<Force, string>> = { must: 'asks for', should: 'recommends', may: 'permits' };

const PROBLEMS: Readonly<Record<Exclude<Problem, 'above_maximum' | 'below_minimum'>, string>> = {
  missing: 'is missing',
  not_accepted: 'decides otherwise than the policy accepts',
  no_ceiling: 'sets no ceiling on what can be owed',
  left_blank: 'is not filled in',
  not_comparable: 'cannot be compared with the policy and needs a reader',
};

const NOTES: Readonly<Record<ClauseNote, string>> = {
  numbers_disagree: ' The words and the digits of the clause name different numbers; the first was used.',
  or_legal_maximum: ' The clause falls back on the highest lawful rate.',
  charged_once: ' The rate has no period: it is charged once.',
  fees_of_a_period: ' Only the fees of the period that the clause names count, not all that were paid.',
  other_values_elsewhere: ' Other passages of the contract say otherwise; see the supporting passages.',
};

function plural(value: string, one: string): string {
  return `${value} ${one}${value === '1' ? '' : 's'}`;
}

function reading(clause: PresentClause): string {
  const { kind, value, unit, per, currency, choice, basis } = clause;
  const chosen = choice === null ? null : (CHOICES[choice] ?? choice);
  // That nothing is filled in says more than what it would have been for.
  if (basis === 'blank') return BASES[basis] ?? basis;
  if (value === null || unit === null) return chosen ?? OF_KIND[kind]?.[basis] ?? BASES[basis] ?? basis;
  if (unit === 'percent') {
    const of = basis === 'percent_of_price' ? ' of the price' : '';
    return `${value}%${of}${per === null ? '' : ` per ${per}`}`;
  }
  if (unit === 'amount') return `${currency ?? ''} ${value}${per === null ? '' : ` per ${per}`}`.trim();
  if (unit === 'multiple') return `${value} times the ${kind === 'severance_pay' ? 'pay' : 'fees'}`;
  const length = plural(value, unit.replace('_', ' ').replace(/s$/, ''));
  return chosen === null ? length : `${length} (${chosen})`;
}

function unusable(why: Unusable): string {
  switch (why.code) {
    case 'negated':
      return 'a negated rule says nothing that can be compared; state it as a limit';
    case 'doubtful':
      return 'its statement says of itself that it is a guess; state it as a rule';
    case 'instruction_like':
      return 'its statement speaks to a machine instead of stating a rule; look at where it came from';
    case 'unvouched':
      return `no person vouched for it (its source is ${why.sourceType.replace('_', ' ')}); import it as a policy where it is one`;
    case 'no_rule':
      return `"${cut(why.predicate)}" is no rule for ${why.subject}; its rules are ${why.rules.join(', ')}`;
    case 'no_number':
      return `the value "${cut(why.value)}" is no plain number of zero or more`;
    case 'no_currency':
      return `an amount needs its currency as unit, such as CNY, not ${why.unit === null ? 'none' : `"${cut(why.unit)}"`}`;
    case 'wrong_unit':
      return `the unit "${cut(why.unit)}" can't be compared; write ${why.wanted}`;
    case 'no_truth_value':
      return `the value "${cut(why.value)}" is neither true nor false`;
    case 'no_choice':
      return `the value "${cut(why.value)}" names nothing that could be accepted`;
  }
}

export const EN_WORDS: Words = {
  kinds: KINDS,
  severities: { LOW: 'LOW', MEDIUM: 'MEDIUM', HIGH: 'HIGH' },
  reading,
  measured(value, measure, unit) {
    if (measure === 'days') return plural(value, 'day');
    if (measure === 'months') return plural(value, 'month');
    if (measure === 'percent_per_year') return `${value}% per year`;
    if (measure === 'percent_of_price') return `${value}% of the price`;
    return measure === 'amount' ? `${unit ?? ''} ${value}` : `${value} times the fees`;
  },
  bound: (bound, measured) => `${bound === 'max' ? 'at most' : 'at least'} ${measured}`,
  oneOf: (accepted) => accepted.map((choice) => CHOICES[choice] ?? choice).join(' or '),
  required: (kind) => `a clause on the ${KINDS[kind]}`,
  complies: (kind, text, converted, { text: wanted, force }) =>
    `The ${KINDS[kind]} is ${text}${converted ?? ''}; the policy ${ASKS[force]} ${wanted}.`,
  deviates: (kind, problem, text, converted, { text: wanted, force }) => {
    const is = `The ${KINDS[kind]} is ${text}${converted ?? ''}`;
    if (problem === 'above_maximum')
      return `${is}: above what the policy ${force === 'must' ? 'allows' : ASKS[force]}, which is ${wanted}.`;
    if (problem === 'below_minimum') return `${is}: below what the policy ${ASKS[force]}, which is ${wanted}.`;
    return `${is}; the clause ${PROBLEMS[problem]}; the policy ${ASKS[force]} ${wanted}.`;
  },
  missing: (kind, { text, force }) => `No clause on the ${KINDS[kind]} was found; the policy ${ASKS[force]} ${text}.`,
  converted: (measured, factor, measure) =>
    `, that is ${measured} (× ${factor}${measure === 'percent_per_year' ? ', simple interest' : ''})`,
  notes: (clause) => clause.notes.map((note) => NOTES[note]).join(''),
  unusable,
};
