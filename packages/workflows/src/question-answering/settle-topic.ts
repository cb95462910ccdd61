import type { Assertion } from '@cleanslate/contracts';
import {
  arbitrateResults,
  type ExecutorResult,
  factKeyOf,
  figuresOf,
  type Interval,
  intersect,
  isDoubtful,
  normaliseName,
  type RankedResult,
} from '@cleanslate/domain';
import type { QuestionNeed } from './question-need.ts';
import { readValue } from './read-value.ts';
import type { Dispute, FoundFact } from './schemas.ts';
import { speaksOfSame } from './words-of-question.ts';

type Side = Dispute['sides'][number];
type Asked = Pick<Dispute, 'subGoal' | 'question'>;

export type SettledTopic = { readonly standing: readonly FoundFact[]; readonly disputes: readonly Dispute[] };

/** "parking_fee", "parking-fee" and "Parking Fee" are one name to whoever asks, though three keys to who writes. */
function topicKeyOf({ subject, predicate }: Assertion): string {
  const spelled = (name: string) => normaliseName(name.replace(/[_-]+/g, ' '));
  return factKeyOf({ subject: spelled(subject), predicate: spelled(predicate) });
}

/**
 * Facts about the same thing: the same subject and predicate, however spelled; a statement without them, and a sentence
 * of another source, joins the first that it shares its words with. In the order of their first.
 */
export function groupByTopic(facts: readonly FoundFact[]): readonly (readonly FoundFact[])[] {
  const groups = new Map<string, FoundFact[]>();
  for (const found of facts) {
    const key = found.assertion === null ? findTopic(groups, found) : topicKeyOf(found.assertion);
    groups.set(key, [...(groups.get(key) ?? []), found]);
  }
  return [...groups.values()];
}

function findTopic(groups: ReadonlyMap<string, readonly FoundFact[]>, found: FoundFact): string {
  for (const [key, topic] of groups)
    if (topic.some(({ statement }) => speaksOfSame(statement, found.statement))) return key;
  return identityOf(found.fact);
}

/**
 * Together with statements of the same subject and predicate in other words, or in another language: the same key is
 * the same thing.
 */
export function withRivals(topic: readonly FoundFact[], all: readonly FoundFact[]): readonly FoundFact[] {
  const keys = new Set(topic.flatMap(({ assertion }) => (assertion === null ? [] : [topicKeyOf(assertion)])));
  const known = new Set<string>(topic.map(({ fact }) => fact));
  const rivals = all.filter(
    ({ fact, assertion, statement, suspicious }) =>
      assertion !== null &&
      keys.has(topicKeyOf(assertion)) &&
      !known.has(fact) &&
      !suspicious &&
      !isDoubtful(statement),
  );
  return [...topic, ...rivals];
}

/**
 * What stands of one topic. Facts of different identities that are in force at the same time and say different things
 * are arbitrated; a claim against a fact that the knowledge base has not decided on is shown beside it.
 */
export function settleTopic(topic: readonly FoundFact[], asked: Asked, need: QuestionNeed, now: number): SettledTopic {
  const comparableOf = topic.some(({ assertion }) => assertion === null)
    ? (found: FoundFact) => answeredBy(found, need)
    : comparableStatement;
  const open = topic.filter(({ challengers }) => challengers.length > 0).map((found) => toOpenDispute(found, asked));
  const identities = new Set(topic.map(({ fact }) => identityOf(fact)));
  if (identities.size < 2) return { standing: topic, disputes: open };
  const contested = topic.filter((found) => topic.some((other) => contradicts(found, other, comparableOf)));
  if (contested.length === 0) return { standing: firstOfEach(topic), disputes: open };
  // A statement that doesn't say since when it holds can't be the older one for that reason.
  const since = contested.every(({ validFrom }) => validFrom !== null) ? sinceOf : () => now;
  const results = contested.map((found) => toResult(found, comparableOf(found) ?? '', since(found)));
  const ruling = arbitrateResults(results, now);
  const byRef = new Map(contested.map((found) => [found.fact as string, found]));
  const sides = ruling.ranking.flatMap((ranked) => toSide(byRef.get(ranked.id), ranked));
  const ruled = ruling.ruling === 'decided' ? 'decided' : 'disputed';
  const dispute: Dispute = { ...asked, ruling: ruled, reason: ruling.reason, lead: ruling.lead, sides };
  const uncontested = topic.filter((found) => !contested.includes(found));
  const winner = ruling.winner === null ? undefined : byRef.get(ruling.winner);
  const standing =
    winner === undefined
      ? uncontested
      : [
          ...uncontested,
          ...contested.filter(
            (each) => identityOf(each.fact) === identityOf(winner.fact) || comparableOf(each) === comparableOf(winner),
          ),
        ];
  return { standing: firstOfEach(standing), disputes: [dispute, ...open] };
}

export function toRange({ validFrom, validUntil }: Pick<FoundFact, 'validFrom' | 'validUntil'>): Interval {
  return { from: validFrom, until: validUntil };
}

export function isPassage(ref: string): boolean {
  return ref.startsWith('source:');
}

/**
 * In a comparable form: the value with its unit and sense, otherwise the numbers of the statement, otherwise its words.
 */
export function comparableStatement({ statement, assertion }: Pick<FoundFact, 'statement' | 'assertion'>): string {
  if (assertion !== null) {
    const { value, unit, polarity, modality } = assertion;
    return [normaliseName(value), unit === null ? '' : normaliseName(unit), polarity, modality].join('|');
  }
  const figures = figuresOf(statement).map(({ value, unit, per = '' }) => `${value}|${unit}|${per}`);
  return figures.length > 0 ? figures.join(';') : normaliseName(statement);
}

/** For a fact and a sentence: the number that each answers with. A sentence that names none contradicts nothing. */
function answeredBy(found: FoundFact, need: QuestionNeed): string | null {
  const { value, unit } = readValue(found, need);
  if (value === null) return null;
  const [figure] = figuresOf(`${value} ${unit ?? ''}`);
  return figure === undefined ? normaliseName(value) : `${figure.value}|${figure.unit}|${figure.currency ?? ''}`;
}

type Comparable = (found: FoundFact) => string | null;

function contradicts(a: FoundFact, b: FoundFact, comparableOf: Comparable): boolean {
  if (identityOf(a.fact) === identityOf(b.fact)) return false;
  const [left, right] = [comparableOf(a), comparableOf(b)];
  return left !== null && right !== null && left !== right && intersect(toRange(a), toRange(b)) !== null;
}

/** Of several that say the same about the same time, the first. */
function firstOfEach(facts: readonly FoundFact[]): readonly FoundFact[] {
  const keyOf = (found: FoundFact) =>
    `${comparableStatement(found)} ${found.validFrom ?? ''} ${found.validUntil ?? ''}`;
  return facts.filter((found, index) => facts.findIndex((other) => keyOf(other) === keyOf(found)) === index);
}

function sinceOf({ validFrom }: FoundFact): number {
  return validFrom === null ? 0 : Date.parse(validFrom);
}

function toResult(found: FoundFact, value: string, sourceTime: number): ExecutorResult {
  const { fact, sourceType, layer, weight } = found;
  return {
    id: fact,
    value,
    trust: sourceType,
    layer,
    weight,
    validatorScore: null,
    sourceTime,
    evidence: [fact],
  };
}

function toSide(found: FoundFact | undefined, { score, evidence }: RankedResult): Side[] {
  if (found === undefined) return [];
  const { fact, statement, assertion, sourceType, sourceRef } = found;
  const { value = null, unit = null } = assertion ?? {};
  return [{ fact, disputeId: null, statement, value, unit, sourceType, sourceRef, score, evidence: [...evidence] }];
}

function toOpenDispute(found: FoundFact, asked: Asked): Dispute {
  const { fact, statement, assertion, sourceType, sourceRef, challengers } = found;
  const { value = null, unit = null } = assertion ?? {};
  const incumbent: Side = {
    fact,
    disputeId: null,
    statement,
    value,
    unit,
    sourceType,
    sourceRef,
    score: null,
    evidence: [fact],
  };
  return {
    ...asked,
    ruling: 'disputed',
    lead: null,
    reason: 'the knowledge base keeps the incumbent until somebody decides',
    sides: [
      incumbent,
      ...challengers.map((challenger): Side => ({ ...challenger, fact: null, score: null, evidence: [] })),
    ],
  };
}

function identityOf(ref: string): string {
  return isPassage(ref) ? ref : ref.slice(0, ref.lastIndexOf('@'));
}
