import {
  type Figure,
  figuresOf,
  findPeriods,
  foldWidth,
  type Interval,
  intersect,
  isDoubtful,
  isSameFigure,
  type Period,
} from '@cleanslate/domain';
import { boundOf, type QuestionNeed, sortOf } from './question-need.ts';
import type { FoundFact } from './schemas.ts';
import { coversRun, isFraming, stemsOf, toSameWords } from './words-of-question.ts';

/**
 * The moment that a statement's "in March" would be relative to; only times with their year are read, so it never
 * counts.
 */
const NO_ANCHOR = '2000-01-01T00:00:00.000Z';

export type Match = {
  readonly found: FoundFact;
  /** 0…1: how much of what the fact is about was asked for. */
  readonly fit: number;
};

/**
 * Whether a fact answers the question, by what it says and not by how near it is: it contains every word that the
 * question is about, no other number than one named in it, the requested sort of number, and the requested end of a
 * range. Null: it doesn't.
 */
export function matchFact(found: FoundFact, need: QuestionNeed): Match | null {
  const { statement, assertion, suspicious } = found;
  if (suspicious || isDoubtful(statement)) return null;
  const { stems, runs } = need.words;
  if (stems.length + runs.length === 0) return null;
  const key = assertion === null ? '' : `${assertion.subject} ${assertion.predicate}`;
  const value = assertion?.unit === null ? assertion.value : '';
  const about = stemsOf(`${statement} ${key} ${value}`);
  if (!stems.every((stem) => about.has(stem))) return null;
  const han = toSameWords(`${statement}\n${key}\n${value}`);
  if (!runs.every((run) => coversRun(han, run))) return null;
  if (need.who && value !== '' && isNamed(value, need)) return null;
  const figures = figuresOf(statement);
  if (!need.figures.every((asked) => holdsFigure(figures, asked))) return null;
  if (need.period !== null && speaksOfOtherTime(statement, need.period)) return null;
  if (need.numberRequired && !hasSort(figures, need)) return null;
  if (need.per !== null && namesOtherPeriod(figures, need.per)) return null;
  if (need.currencies !== null && namesOtherCurrency(figures, need.currencies)) return null;
  const bound = boundOf(statement, assertion?.predicate ?? null);
  if (need.bound !== null && bound !== null && need.bound !== bound) return null;
  return { found, fit: fitOf(found, key, need, figures) };
}

/** "Priority 2" is not "within 2 hours": a bare number is one of the fact's bare numbers, if it has any. */
function holdsFigure(figures: readonly Figure[], asked: Figure): boolean {
  const bare = figures.filter(({ unit }) => unit === 'number');
  const comparable = asked.unit === 'number' && bare.length > 0 ? bare : figures;
  return comparable.some((figure) => isSameFigure(asked, figure));
}

/** None of the times that a statement names with their year is the one asked about. */
function speaksOfOtherTime(statement: string, period: Interval): boolean {
  const named = findPeriods(statement, NO_ANCHOR).filter(({ span }) =>
    /\d{4}/.test(foldWidth(statement.slice(span.start, span.end))),
  );
  return named.length > 0 && named.every((each) => intersect(each.period, period) === null);
}

/** "Who leads the director?" is not answered by what the director leads. */
function isNamed(value: string, { words: { stems, runs } }: QuestionNeed): boolean {
  const named = [...stemsOf(value)];
  const han = toSameWords(value).match(/\p{Script=Han}{2,}/gu) ?? [];
  if (named.length + han.length === 0) return false;
  return named.every((stem) => stems.includes(stem)) && han.every((part) => runs.some((run) => run.includes(part)));
}

function namesOtherPeriod(figures: readonly Figure[], per: Period): boolean {
  const named = figures.flatMap((figure) => figure.per ?? []);
  return named.length > 0 && !named.includes(per);
}

function namesOtherCurrency(figures: readonly Figure[], asked: readonly string[]): boolean {
  const named = figures.flatMap(({ currency }) => currency ?? []);
  return named.length > 0 && !named.some((currency) => asked.includes(currency));
}

/** Has it a number of the sort that was asked for? */
export function hasSort(figures: readonly Figure[], { sort }: QuestionNeed): boolean {
  // "What is the limit" may ask for money or for pieces; days never answer a question for a rate.
  if (sort === null || sort === 'money' || sort === 'count') return figures.length > 0;
  return figures.some((figure) => sortOf(figure) === sort);
}

function fitOf({ statement }: FoundFact, key: string, need: QuestionNeed, figures: readonly Figure[]): number {
  const { stems, runs } = need.words;
  const asked = new Set(stems);
  const shareOf = (text: string) => {
    const told = [...stemsOf(text)].filter((stem) => !isFraming(stem) && !/\d/.test(stem));
    return told.length === 0 ? null : told.filter((stem) => asked.has(stem)).length / told.length;
  };
  const han = [...toSameWords(statement)].filter((char) => /\p{Script=Han}/u.test(char));
  const hanShare = han.length === 0 ? null : Math.min(1, runs.join('').length / han.length);
  const told = Math.max(shareOf(statement) ?? 0, hanShare ?? 0);
  const keyed = shareOf(key) ?? told;
  const sorted = need.sort === null || figures.some((figure) => sortOf(figure) === need.sort) ? 1 : 0;
  return 0.4 * told + 0.35 * (runs.length > 0 ? told : keyed) + 0.25 * sorted;
}
