import { pageStarts } from '@cleanslate/documents';
import { figuresOf, findQuantities, foldWidth, type Quantity } from '@cleanslate/domain';
import { z } from 'zod';
import { CLAUSE_KINDS, CLAUSE_UNITS, type ClauseKind, type ClauseReading, type PresentClause } from './clause.ts';
import { explain } from './explain.ts';
import { judge, rulesFor } from './judge.ts';
import { KINDS } from './kinds/index.ts';
import type { PolicyRule } from './policy.ts';
import { toQuoted } from './quoted.ts';
import { toExpected, toReading } from './review.ts';
import { EMPTY_READING } from './rule.ts';
import type { Language, ModelReading, ModelRefusal } from './schemas.ts';
import { type Sentence, sentencesOf } from './sentence.ts';
import { suspiciousOf } from './suspicious.ts';

/**
 * What a model may say about a contract: which sentence is the clause that the rules did not find, and the words in it
 * that fix the number or the choice.
 */
export const ModelItem = z.strictObject({
  clause: z.string().max(100),
  quote: z.string().max(8_000),
  figure: z.string().max(200).nullable(),
  choice: z.string().max(100).nullable(),
});
export type ModelItem = z.infer<typeof ModelItem>;

export interface ModelQuestion {
  /** Kinds that a policy asks about and the rules did not find. */
  readonly kinds: readonly ClauseKind[];
  /** Sentences that may hold one of them. */
  readonly passages: readonly { readonly id: string; readonly text: string }[];
  /** Further ones, for which there was no room. */
  readonly unread: number;
}

export interface Ground {
  readonly text: string;
  readonly sentences: readonly Sentence[];
  readonly suspicious: ReadonlySet<Sentence>;
  /** Kinds that the rules found: left to the rules. */
  readonly settled: ReadonlySet<ClauseKind>;
  readonly rules: readonly PolicyRule[];
  readonly language: Language;
}

const MAX_PASSAGES = 80;
const MAX_CHARS = 20_000;
/** Of a model's word, whatever it says of itself. */
const CONFIDENCE = 0.5;

export function toGround(
  text: string,
  rules: readonly PolicyRule[],
  clauses: readonly { readonly kind: ClauseKind; readonly present: boolean }[],
  language: Language,
): Ground {
  const sentences = [...sentencesOf(text)];
  const settled = new Set(clauses.filter(({ present }) => present).map(({ kind }) => kind));
  return { text, sentences, suspicious: suspiciousOf(text, sentences), settled, rules, language };
}

/** What a model is asked about a contract; without kinds or passages there is nothing to ask. */
export function toQuestion({ text, sentences, suspicious, settled, rules }: Ground): ModelQuestion {
  const kinds = CLAUSE_KINDS.filter((kind) => !settled.has(kind) && rules.some((rule) => rule.kind === kind));
  const passages: { id: string; text: string }[] = [];
  let chars = 0;
  let unread = 0;
  for (const sentence of sentences) {
    if (suspicious.has(sentence) || !kinds.some((kind) => KINDS[kind].about.test(sentence.plain))) continue;
    const { start, end } = sentence.span;
    chars += end - start;
    if (passages.length >= MAX_PASSAGES || chars > MAX_CHARS) unread += 1;
    else passages.push({ id: `p${start}`, text: text.slice(start, end) });
  }
  return { kinds, passages, unread };
}

export type ItemOutcome = { readonly readings: readonly ModelReading[] } | { readonly refusal: ModelRefusal };
type Read = (kind: ClauseKind, sentence: Sentence) => ClauseReading | ModelRefusal;

/**
 * The outcome of one item: a reading for each policy on that kind of clause, compared and worded by the rules' own
 * code, or the reason why there is none. Number and choice come from the quoted sentence; the model only points at
 * them.
 */
export function readItem(ground: Ground, item: unknown): ItemOutcome {
  const parsed = ModelItem.safeParse(item);
  if (!parsed.success) return { refusal: 'malformed' };
  const { clause, quote, figure, choice } = parsed.data;
  return readPassage(ground, clause, quote, (kind, sentence) =>
    figure === null ? readChoice(ground.rules, kind, sentence, choice) : readFigure(kind, sentence, figure),
  );
}

/** The same passage read again, by someone who has only the result. */
export function readAgain(ground: Ground, { clause, quote, found }: ModelReading): ItemOutcome {
  return readPassage(ground, clause, quote, (kind, sentence) =>
    found.value === null ? readChoice(ground.rules, kind, sentence, found.choice) : readOnlyFigure(kind, sentence),
  );
}

function readPassage(ground: Ground, clause: string, quote: string, read: Read): ItemOutcome {
  const kind = CLAUSE_KINDS.find((each) => each === clause);
  if (kind === undefined) return { refusal: 'unknown_kind' };
  if (ground.settled.has(kind)) return { refusal: 'settled_by_rules' };
  if (!ground.rules.some((rule) => rule.kind === kind)) return { refusal: 'no_policy' };
  const said = ground.sentences.filter(({ span }) => ground.text.slice(span.start, span.end) === quote);
  const [sentence] = said;
  if (sentence === undefined) return { refusal: 'not_quoted' };
  if (said.length > 1) return { refusal: 'not_unique' };
  if (ground.suspicious.has(sentence)) return { refusal: 'suspicious' };
  if (!KINDS[kind].about.test(sentence.plain)) return { refusal: 'other_kind' };
  if (isPermission(sentence.plain)) return { refusal: 'permission' };
  if (isNegated(sentence.plain)) return { refusal: 'negated' };
  const reading = read(kind, sentence);
  if (typeof reading === 'string') return { refusal: reading };
  return { readings: toReadings(ground, kind, sentence, reading) };
}

function toReadings(ground: Ground, kind: ClauseKind, { span }: Sentence, reading: ClauseReading): ModelReading[] {
  const quoted = toQuoted({ text: ground.text, pages: pageStarts(ground.text) }, span);
  const clause: PresentClause = { kind, present: true, ...quoted, ...reading, confidence: CONFIDENCE, supporting: [] };
  return rulesFor(ground.rules, clause).map((rule) => {
    const judgement = judge(rule, clause);
    const { problem, severity } = judgement;
    return {
      clause: kind,
      ...quoted,
      policy: rule.policy,
      severity,
      problem,
      found: toReading(clause),
      expected: toExpected(rule),
      explanation: explain(rule, clause, judgement, ground.language),
      confidence: CONFIDENCE,
    };
  });
}

const DURATIONS: ReadonlySet<string> = new Set(['days', 'business_days', 'weeks', 'months', 'years']);
const FIGURES: Readonly<Record<ClauseKind, (quantity: Quantity) => boolean>> = {
  ...(Object.fromEntries(CLAUSE_KINDS.map((kind) => [kind, isDuration])) as Record<ClauseKind, typeof isDuration>),
  late_payment_rate: ({ unit }) => unit === 'percent',
  liability_cap: ({ unit }) => unit === 'amount' || unit === 'percent' || unit === 'multiple',
};

function isDuration({ unit }: Quantity): boolean {
  return DURATIONS.has(unit);
}

/** What the model means must be the one number of that sort in the sentence, in the sentence's words. */
function readFigure(kind: ClauseKind, sentence: Sentence, figure: string): ClauseReading | ModelRefusal {
  if (!foldWidth(sentence.plain).includes(foldWidth(figure).replace(/\s+/g, ' ').trim())) return 'figure_not_quoted';
  const [meant, another] = findQuantities(figure);
  if (meant === undefined || another !== undefined) return 'figure_not_quoted';
  const reading = readOnlyFigure(kind, sentence);
  if (typeof reading === 'string') return reading;
  return meant.value === reading.value && meant.unit === reading.unit ? reading : 'figure_not_quoted';
}

/** If there are several, it is unknown which is the clause's. */
function readOnlyFigure(kind: ClauseKind, { plain }: Sentence): ClauseReading | ModelRefusal {
  const [only, another] = findQuantities(plain).filter(FIGURES[kind]);
  if (only === undefined) return 'figure_not_quoted';
  if (another !== undefined || only.conflict !== undefined) return 'figure_ambiguous';
  const unit = CLAUSE_UNITS.find((each) => each === only.unit);
  if (unit === undefined) return 'figure_not_quoted';
  const { value, per = null, currency = null } = only;
  return { ...EMPTY_READING, value, unit, per, currency, basis: basisOf(kind, unit) };
}

function basisOf(kind: ClauseKind, unit: string): ClauseReading['basis'] {
  if (kind !== 'liability_cap') return 'stated';
  if (unit === 'amount') return 'fixed_amount';
  return unit === 'multiple' ? 'multiple_of_fees' : 'percent_of_price';
}

/**
 * One of the names that a policy accepts, if the sentence has it; otherwise only that the clause is there. Which other
 * name would be meant is a reading that nobody here can check.
 */
function readChoice(
  rules: readonly PolicyRule[],
  kind: ClauseKind,
  { plain }: Sentence,
  choice: string | null,
): ClauseReading | ModelRefusal {
  // A sentence with a figure says more than that the clause is there.
  if (choice === null)
    return figuresOf(plain).length === 0 ? { ...EMPTY_READING, basis: 'provision' } : 'figure_ambiguous';
  const accepted = rules.flatMap((rule) => (rule.kind === kind && rule.type === 'choice' ? rule.accepted : []));
  const name = accepted.find((each) => normalize(each) === normalize(choice));
  if (name === undefined || !` ${normalize(plain)} `.includes(` ${normalize(name)} `)) return 'choice_not_quoted';
  return { ...EMPTY_READING, choice: name, basis: 'provision' };
}

function normalize(text: string): string {
  return foldWidth(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const PERMITS = /\b(?:may|might|could|can)\b|可以|有权|得以|可(?=于|在|由|将)/i;
const BINDS = /\b(?:shall|must|will|is|are|agrees?|undertakes?|required|due)\b|应当?|必须|须|不得|为|不超过/i;

/** What a party may do binds nobody: reading a limit out of it would turn a "may" into a "must". */
function isPermission(plain: string): boolean {
  return PERMITS.test(plain) && !BINDS.test(plain);
}

const BOUNDS =
  /\b(?:shall |must |may |will )?not (?:to )?(?:exceed|more than|less than|later than)\b|\b(?:no|not) (?:more|less|later)\b|不(?:得)?(?:超过|高于|低于|少于|迟于)/gi;
const NEGATES = /\b(?:not|no|never|nor|none|neither|without|except|unless|excluding)\b|n't\b|[不无非未勿]|除外|除非/i;

/**
 * "No later than" sets a limit; any other negation may turn the sentence into the opposite of what its number or name
 * suggests.
 */
function isNegated(plain: string): boolean {
  return NEGATES.test(plain.replace(BOUNDS, ''));
}
