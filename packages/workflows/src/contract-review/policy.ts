import type { FactView, SourceType } from '@cleanslate/contracts';
import {
  compareDecimals,
  type Decimal,
  decimalOf,
  foldWidth,
  isDoubtful,
  isInstructionLike,
  parseDecimal,
} from '@cleanslate/domain';
import { CLAUSE_KINDS, type ClauseKind } from './clause.ts';
import { POLICY_SUBJECTS } from './policy-subjects.ts';

const MEASURES = ['days', 'months', 'percent_per_year', 'amount', 'percent_of_price', 'multiple_of_fees'] as const;
export type Measure = (typeof MEASURES)[number];

const MEASURES_OF: Readonly<Record<ClauseKind, readonly Measure[]>> = {
  payment_term: ['days'],
  late_payment_rate: ['percent_per_year'],
  liability_cap: ['amount', 'percent_of_price', 'multiple_of_fees'],
  term: ['months'],
  termination_notice: ['days'],
  renewal: ['months'],
  confidentiality_period: ['months'],
  governing_law: [],
  dispute_resolution: [],
  assignment: [],
  ip_ownership: [],
  warranty_period: ['months'],
  severance_pay: ['months'],
  non_compete: ['months'],
};

/** Kinds whose clause decides something that no number says. */
const CHOSEN: ReadonlySet<ClauseKind> = new Set([
  'renewal',
  'governing_law',
  'dispute_resolution',
  'assignment',
  'ip_ownership',
]);

/** The only unit each measure is compared in; for an amount any currency. */
const UNIT_OF: Readonly<Record<Exclude<Measure, 'amount'>, string>> = {
  days: 'days',
  months: 'months',
  percent_per_year: 'percent',
  percent_of_price: 'percent',
  multiple_of_fees: 'multiple',
};

/** How binding a rule is, for the words of the report. */
export type Force = 'must' | 'should' | 'may';

/** Why no rule can apply a fact. */
export type Unusable =
  | { readonly code: 'negated' }
  /** It says of itself that it is a guess: a draft's assumption is not held against a contract. */
  | { readonly code: 'doubtful' }
  /** Its statement addresses a machine: somebody planted it. */
  | { readonly code: 'instruction_like' }
  /** An agent or an outside source said it. The conclusion of one task may not become the rule of the next one. */
  | { readonly code: 'unvouched'; readonly sourceType: SourceType }
  | {
      readonly code: 'no_rule';
      readonly subject: string;
      readonly predicate: string;
      readonly rules: readonly string[];
    }
  | { readonly code: 'no_number'; readonly value: string }
  | { readonly code: 'no_currency'; readonly unit: string | null }
  | { readonly code: 'wrong_unit'; readonly unit: string; readonly wanted: string }
  | { readonly code: 'no_truth_value'; readonly value: string }
  | { readonly code: 'no_choice'; readonly value: string };

/** The part of a fact that a rule is made of. Any `FactView` is one. */
export type PolicyFact = Pick<
  FactView,
  'knowledgeId' | 'version' | 'statement' | 'assertion' | 'validFrom' | 'validUntil' | 'sourceType'
>;

export interface ReadPoliciesOptions {
  /** For measurements only: also applies guesses, planted text and what no person vouched for. Default false. */
  readonly believeAll?: boolean | undefined;
}

interface RuleBase {
  readonly policy: string;
  readonly fact: PolicyFact;
  readonly kind: ClauseKind;
  readonly predicate: string;
  readonly value: string;
  readonly unit: string | null;
  readonly force: Force;
  /** `should` and `may`: a deviation counts one level less. */
  readonly advisory: boolean;
}

export interface RequiredRule extends RuleBase {
  readonly type: 'required';
}

export interface LimitRule extends RuleBase {
  readonly type: 'limit';
  readonly bound: 'max' | 'min';
  readonly measure: Measure;
  readonly limit: Decimal;
}

export interface ChoiceRule extends RuleBase {
  readonly type: 'choice';
  /** At least one. */
  readonly accepted: readonly string[];
}

type Assertion = NonNullable<PolicyFact['assertion']>;

export type PolicyRule = RequiredRule | LimitRule | ChoiceRule;

export interface ReadPolicies {
  readonly rules: readonly PolicyRule[];
  readonly unused: readonly { readonly policy: string; readonly why: Unusable }[];
}

function toPolicyRef(fact: Pick<PolicyFact, 'knowledgeId' | 'version'>): string {
  return `${fact.knowledgeId}@${fact.version}`;
}

const TRUE_WORDS = new Set(['true', 'yes', '是', '必须']);
const FALSE_WORDS = new Set(['false', 'no', '否']);

function kindOf(subject: string): ClauseKind | null {
  return CLAUSE_KINDS.find((kind) => POLICY_SUBJECTS[kind] === subject) ?? null;
}

function rulesOf(kind: ClauseKind): readonly string[] {
  const limits = MEASURES_OF[kind].flatMap((measure) => [`max_${measure}`, `min_${measure}`]);
  return [...limits, ...(CHOSEN.has(kind) ? ['one_of'] : []), 'required'];
}

function readChoice(base: RuleBase): ChoiceRule | Unusable {
  const accepted = foldWidth(base.value)
    .split(/[,;、|]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return accepted.length === 0
    ? { code: 'no_choice', value: base.value }
    : { ...base, type: 'choice', accepted: accepted.slice(0, 50) };
}

function readLimit(base: RuleBase): LimitRule | Unusable {
  const { kind, predicate, value, unit } = base;
  const [bound, ...rest] = predicate.split('_');
  const measure = MEASURES_OF[kind].find((name) => name === rest.join('_'));
  if ((bound !== 'max' && bound !== 'min') || measure === undefined)
    return { code: 'no_rule', subject: POLICY_SUBJECTS[kind], predicate, rules: rulesOf(kind) };
  const limit = parseDecimal(foldWidth(value).trim());
  if (limit === null || compareDecimals(limit, decimalOf(0)) < 0) return { code: 'no_number', value };
  if (measure === 'amount') {
    if (!/^[A-Z]{3}$/.test(unit ?? '')) return { code: 'no_currency', unit };
  } else if (unit !== null && unit !== UNIT_OF[measure]) {
    return { code: 'wrong_unit', unit, wanted: UNIT_OF[measure] };
  }
  return { ...base, type: 'limit', bound, measure, limit };
}

function forceOf(modality: Assertion['modality']): Force {
  return modality === 'should' || modality === 'may' ? modality : 'must';
}

/** Why a fact may not bind a contract, whatever it says. */
function findDoubt({ statement, sourceType }: PolicyFact): Unusable | null {
  // No candidate of an agent can claim to be a person's (`screen-candidate.ts`): this keeps agents from writing their
  // own rules.
  if (sourceType !== 'human_confirmed') return { code: 'unvouched', sourceType };
  if (isInstructionLike(statement)) return { code: 'instruction_like' };
  return isDoubtful(statement) ? { code: 'doubtful' } : null;
}

/** Null for a rule that requires nothing: a clause that is not required. */
function readRule(fact: PolicyFact, kind: ClauseKind, assertion: Assertion): PolicyRule | Unusable | null {
  const { predicate, value, unit, modality, polarity } = assertion;
  if (polarity === 'negative') return { code: 'negated' };
  const force = forceOf(modality);
  const base = { policy: toPolicyRef(fact), fact, kind, predicate, value, unit, force, advisory: force !== 'must' };
  if (predicate === 'one_of' && CHOSEN.has(kind)) return readChoice(base);
  if (predicate !== 'required') return readLimit(base);
  const word = value.trim().toLowerCase();
  if (TRUE_WORDS.has(word)) return { ...base, type: 'required' };
  return FALSE_WORDS.has(word) ? null : { code: 'no_truth_value', value };
}

export interface FindUnusableOptions {
  readonly statement?: string | undefined;
  /** Default `human_confirmed`. */
  readonly sourceType?: SourceType | undefined;
}

/**
 * Why no rule of this workflow could apply such a fact from a person; null if one can, or if it is about something
 * else.
 */
export function findUnusable(
  assertion: Assertion,
  { statement = '', sourceType = 'human_confirmed' }: FindUnusableOptions = {},
): Unusable | null {
  const source = { statement, sourceType, validFrom: null, validUntil: null };
  const { unused } = readPolicies([{ knowledgeId: 'given', version: 1, assertion, ...source }]);
  return unused[0]?.why ?? null;
}

/**
 * Rules from facts; facts on other subjects are ignored, those on ours that can't be applied are listed with the
 * reason.
 */
export function readPolicies(
  facts: readonly PolicyFact[],
  { believeAll = false }: ReadPoliciesOptions = {},
): ReadPolicies {
  const rules: PolicyRule[] = [];
  const unused: { policy: string; why: Unusable }[] = [];
  const seen = new Set<string>();
  for (const fact of facts) {
    // The same version may be found by two subjects, if one is the beginning of the other.
    if (seen.has(toPolicyRef(fact))) continue;
    seen.add(toPolicyRef(fact));
    const kind = fact.assertion === null ? null : kindOf(fact.assertion.subject);
    if (kind === null || fact.assertion === null) continue;
    const rule = readRule(fact, kind, fact.assertion);
    if (rule === null) continue;
    const why = 'code' in rule ? rule : believeAll ? null : findDoubt(fact);
    if (why !== null) unused.push({ policy: toPolicyRef(fact), why });
    else if (!('code' in rule)) rules.push(rule);
  }
  return { rules: rules.sort((left, right) => (left.policy < right.policy ? -1 : 1)), unused };
}
