import { findDates, foldWidth, type Span } from '../quantities/index.ts';
import { dayOf, lastMonth, monthsFrom, partsOf, yearOf } from './calendar.ts';
import type { Interval } from './interval.ts';

/** A time that a question names, with the words that name it. */
export type FoundPeriod = { readonly period: Interval; readonly span: Span };

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const MONTH = `(?:${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)`;
const YEAR = '(?:19|20)\\d{2}';
const HAN_DIGITS = '一二三四五六七八九';

type Atom = { readonly pattern: RegExp; readonly read: (groups: readonly string[], at: string) => Interval | null };

const month = (name: string) => MONTHS.findIndex((each) => each.startsWith(name.slice(0, 3).toLowerCase())) + 1;
const hanMonth = (text: string) => {
  if (/^\d+$/.test(text)) return Number(text);
  if (text.startsWith('十')) return 10 + HAN_DIGITS.indexOf(text.charAt(1)) + 1;
  return HAN_DIGITS.indexOf(text) + 1;
};
const quarter = (text: string) => (/\d/.test(text) ? Number(text) : HAN_DIGITS.indexOf(text) + 1);
const monthOf = (year: number, number: number) => (number >= 1 && number <= 12 ? monthsFrom(year, number, 1) : null);

/** The first that fits at a place counts, so the more exact ones come first. */
const ATOMS: readonly Atom[] = [
  {
    pattern: new RegExp(`\\bq([1-4])\\s{0,3}(?:of\\s)?(${YEAR})\\b`, 'gi'),
    read: ([q = '', y]) => monthsFrom(Number(y), quarter(q) * 3 - 2, 3),
  },
  {
    pattern: new RegExp(`\\bthe\\s(first|second)\\shalf\\sof\\s(${YEAR})\\b`, 'gi'),
    read: ([half, y]) => monthsFrom(Number(y), half?.toLowerCase() === 'first' ? 1 : 7, 6),
  },
  {
    pattern: new RegExp(`\\b(${MONTH})\\.?,?\\s(?:of\\s)?(${YEAR})\\b`, 'gi'),
    read: ([name = '', y]) => monthOf(Number(y), month(name)),
  },
  { pattern: new RegExp(`(${YEAR})-(0[1-9]|1[0-2])(?![\\d-])`, 'g'), read: ([y, m]) => monthOf(Number(y), Number(m)) },
  {
    pattern: new RegExp(`(${YEAR})\\s?年\\s?的?第?([1-4一二三四])季度`, 'g'),
    read: ([y, q = '']) => monthsFrom(Number(y), quarter(q) * 3 - 2, 3),
  },
  {
    pattern: new RegExp(`(${YEAR})\\s?年\\s?的?(上|下)半年`, 'g'),
    read: ([y, half]) => monthsFrom(Number(y), half === '上' ? 1 : 7, 6),
  },
  {
    pattern: new RegExp(`(${YEAR})\\s?年\\s?(\\d{1,2}|十[一二]?|[${HAN_DIGITS}])\\s?月份?`, 'g'),
    read: ([y, m = '']) => monthOf(Number(y), hanMonth(m)),
  },
  { pattern: new RegExp(`(${YEAR})\\s?年(?:度|底|末|初)?`, 'g'), read: ([y]) => yearOf(Number(y)) },
  {
    pattern: /(?<![个\d])(\d{1,2}|十[一二]?|[一二三四五六七八九])\s?月份/g,
    read: ([m = ''], at) => (hanMonth(m) >= 1 && hanMonth(m) <= 12 ? lastMonth(hanMonth(m), at) : null),
  },
  {
    pattern: /(前年|去年|今年)/g,
    read: ([word = ''], at) => yearOf(partsOf(at)[0] - ['今年', '去年', '前年'].indexOf(word)),
  },
  {
    pattern: /(上个?月|本月|这个月)/g,
    read: ([word = ''], at) => monthsFrom(partsOf(at)[0], partsOf(at)[1] - (word.startsWith('上') ? 1 : 0), 1),
  },
  // "May" without a year is a month only where a preposition says so; elsewhere it is a verb.
  {
    pattern: new RegExp(`(?<=\\b(?:in|during|since|before|after|until|last|this|of)\\s)(${MONTH})\\b(?!\\s\\d)`, 'gi'),
    read: ([name = ''], at) => lastMonth(month(name), at),
  },
  {
    pattern: /\b(last|this)\s(year|month)\b/gi,
    read: ([which, unit], at) => {
      const back = which?.toLowerCase() === 'last' ? 1 : 0;
      const [year, now] = partsOf(at);
      return unit?.toLowerCase() === 'year' ? yearOf(year - back) : monthsFrom(year, now - back, 1);
    },
  },
  {
    pattern: new RegExp(
      `(?<=\\b(?:in|during|since|before|after|until|by|of|from|to|and|between|than|for|year|${YEAR},|${YEAR} or)\\s)(${YEAR})\\b(?![-/]|\\s?(?:days|euros?|dollars|usd|eur|employees|people))`,
      'gi',
    ),
    read: ([y]) => yearOf(Number(y)),
  },
];

/** Connecting words before, between and after the times: what they make of them. */
const RANGE_BEFORE = /(?:\bbetween|\bfrom|从|自|在)\s?$/i;
/** Those that make a range of two times joined by "and": "在" may also come before a list. */
const RANGE_SAID = /(?:\bbetween|\bfrom|从|自)\s?$/i;
const RANGE_BETWEEN = /^\s?(?:and|to|until|till|through|-|–|至|到|和|~)\s?(?:the\s)?$/i;
const RANGE_AFTER = /^\s?(?:之间|期间|间)/;
const BEFORE = /\b(?:before|prior to|until|up to|by)\s(?:the\s)?$/i;
const AFTER = /\b(after)\s(?:the\s)?$/i;
const SINCE = /(?:\b(?:since|from)\s(?:the\s)?|自从?|从)\s?$/i;
const IN = /(?:\b(?:in|on|during|for|of|as of|at|throughout)\s(?:the\s)?(?:month of\s|year\s)?|在|于|截至)\s?$/i;
const HAN_BEFORE = /^\s?(?:之前|以前|前)/;
const HAN_AFTER = /^\s?(?:之后|以后)/;
const HAN_SINCE = /^\s?(?:以来|起|开始)/;
const HAN_IN = /^\s?(?:的时候|时|期间|当时|内|里|中)/;

/** Whatever may appear between two times of a list. */
const LISTED = /^[\s,，、;；]*(?:and|or|as well as|和|与|及|以及|还有|或)?\s*$/i;

/**
 * No word that is read with the time after it is longer. Looking back further would search the whole question for each
 * of its times.
 */
const LEAD = 40;

/** Every time a question names, in order. `at`: the moment that "last year" and "in March" are relative to. */
export function findPeriods(question: string, at: string): FoundPeriod[] {
  const text = foldWidth(question);
  const atoms = findAtoms(text, at);
  const found: FoundPeriod[] = [];
  for (let i = 0; i < atoms.length; i++) {
    const [first, second] = [atoms[i], atoms[i + 1]];
    if (first === undefined) continue;
    const joined = second === undefined ? null : joinRange(text, first, second);
    if (joined !== null) i += 1;
    found.push(joined ?? withWords(text, first));
  }
  return found;
}

function findAtoms(text: string, at: string): FoundPeriod[] {
  const found: FoundPeriod[] = [];
  const taken = new Uint8Array(text.length);
  const add = (period: Interval | null, span: Span) => {
    if (period === null || taken.subarray(span.start, span.end).includes(1)) return;
    taken.fill(1, span.start, span.end);
    found.push({ period, span });
  };
  for (const { iso, span } of findDates(text)) add(dayOf(iso), span);
  for (const { pattern, read } of ATOMS) {
    for (const match of text.matchAll(pattern)) {
      add(read(match.slice(1), at), { start: match.index, end: match.index + match[0].length });
    }
  }
  return found.sort((a, b) => a.span.start - b.span.start);
}

/** "between A and B", "A 至 B": from the beginning of the first to the end of the second. */
function joinRange(text: string, first: FoundPeriod, second: FoundPeriod): FoundPeriod | null {
  if (!RANGE_BETWEEN.test(text.slice(first.span.end, second.span.start))) return null;
  const before = findLead(RANGE_BEFORE, text, first.span.start);
  const after = RANGE_AFTER.exec(text.slice(second.span.end));
  const spoken = /至|到|~|–|-/.test(text.slice(first.span.end, second.span.start));
  if (findLead(RANGE_SAID, text, first.span.start) === null && after === null && !spoken) return null;
  const { from } = first.period;
  const { until } = second.period;
  if (from === null || until === null || until <= from) return null;
  return {
    period: { from, until },
    span: { start: before ?? first.span.start, end: second.span.end + (after?.[0].length ?? 0) },
  };
}

/** "before A", "since A", "A 之前": one end open. */
function withWords(text: string, { period, span }: FoundPeriod): FoundPeriod {
  const lead = (pattern: RegExp) => findLead(pattern, text, span.start);
  const after = text.slice(span.end);
  const { from, until } = period;
  const readings: readonly (readonly [number | null, RegExpExecArray | null, Interval])[] = [
    [lead(BEFORE), null, { from: null, until: from }],
    [null, HAN_BEFORE.exec(after), { from: null, until: from }],
    [lead(AFTER), null, { from: until, until: null }],
    [null, HAN_AFTER.exec(after), { from: until, until: null }],
    [null, HAN_SINCE.exec(after), { from, until: null }],
    [lead(SINCE), null, { from, until: null }],
    [lead(IN), HAN_IN.exec(after), period],
  ];
  for (const [said, tail, read] of readings) {
    if (said === null && tail === null) continue;
    const start = said ?? lead(/(?:自|从|在|于)\s?$/) ?? span.start;
    return { period: read, span: { start, end: span.end + (tail?.[0].length ?? 0) } };
  }
  return { period, span };
}

/** Where a connecting word begins that ends at a given place; null if there is none. */
function findLead(pattern: RegExp, text: string, end: number): number | null {
  const start = Math.max(0, end - LEAD);
  const match = pattern.exec(text.slice(start, end));
  return match === null ? null : start + match.index;
}

/** Where times appear: "in March 2024 and in March 2030", "2024年3月、2030年3月" as one place. */
export function joinListed(question: string, periods: readonly Pick<FoundPeriod, 'span'>[]) {
  const joined: { span: Span }[] = [];
  for (const { span } of periods) {
    const before = joined.at(-1)?.span;
    if (before === undefined || !LISTED.test(question.slice(before.end, span.start))) joined.push({ span });
    else joined.splice(-1, 1, { span: { start: before.start, end: span.end } });
  }
  return joined;
}

/** The question without the times it names. */
export function withoutPeriods(question: string, periods: readonly Pick<FoundPeriod, 'span'>[]): string {
  let text = '';
  let at = 0;
  for (const { span } of periods) {
    text += `${question.slice(at, span.start)} `;
    at = span.end;
  }
  return tidy(text + question.slice(at));
}

/** One space between words, none before punctuation or beside Chinese. */
function tidy(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/(?<=\p{Script=Han}) (?=[\p{Script=Han}，。？！、])/gu, '')
    .replace(/ (?=[,.;:!?，。？！])/g, '')
    .replace(/^[\s,，、的]+|\s+$/g, '');
}
