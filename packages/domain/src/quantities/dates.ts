import { findMatches } from '../find-matches.ts';
import { readChineseNumber } from './chinese-number.ts';
import { foldWidth } from './fold-width.ts';
import type { Span } from './quantity.ts';

/** A calendar date read from a text, as YYYY-MM-DD. */
export interface FoundDate {
  readonly iso: string;
  readonly span: Span;
}

const MONTHS = 'january|february|march|april|may|june|july|august|september|october|november|december';
const MONTH_PATTERN = `(?:${MONTHS}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\.?`;
const MONTH_STEMS = MONTHS.split('|').map((name) => name.slice(0, 3));
const CHINESE = '[〇零○一二三四五六七八九十]';

const PATTERNS: readonly { readonly pattern: RegExp; readonly order: 'ymd' | 'mdy' | 'dmy' }[] = [
  { pattern: /(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])/g, order: 'ymd' },
  { pattern: /(?<!\d)(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?[日号]/g, order: 'ymd' },
  { pattern: new RegExp(`(${CHINESE}{4})年(${CHINESE}{1,3})月(${CHINESE}{1,3})日`, 'g'), order: 'ymd' },
  { pattern: /(?<![\d/.])(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?![\d/])/g, order: 'ymd' },
  {
    pattern: new RegExp(`\\b(${MONTH_PATTERN})\\s{1,4}(\\d{1,2})(?:st|nd|rd|th)?,?\\s{1,4}(\\d{4})\\b`, 'gi'),
    order: 'mdy',
  },
  { pattern: /(?<![\d/])(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})(?![\d/])/g, order: 'mdy' },
  {
    pattern: new RegExp(
      `\\b(\\d{1,2})(?:st|nd|rd|th)?(?: day)?(?: of)?\\s{1,4}(${MONTH_PATTERN}),?\\s{1,4}(\\d{4})\\b`,
      'gi',
    ),
    order: 'dmy',
  },
];

function toNumber(part: string): number | null {
  if (/^\d+$/.test(part)) return Number(part);
  const month = MONTH_STEMS.indexOf(part.slice(0, 3).toLowerCase());
  if (month >= 0) return month + 1;
  const read = readChineseNumber(part, 0);
  return read !== null && read.end === part.length ? Number(read.value.digits) : null;
}

function toIso(parts: readonly string[], order: 'ymd' | 'mdy' | 'dmy'): string | null {
  const [a, b, c] = parts.map(toNumber);
  if (a == null || b == null || c == null) return null;
  const [year, month, day] = order === 'ymd' ? [a, b, c] : order === 'mdy' ? [c, a, b] : [c, b, a];
  // Two-digit years are of the files of 1950 to 2049, as in most style guides.
  const full = year < 50 ? year + 2000 : year < 100 ? year + 1900 : year;
  if (month < 1 || month > 12 || day < 1 || day > 31) return null;
  return `${full.toString().padStart(4, '0')}-${month.toString().padStart(2, '0')}-${day.toString().padStart(2, '0')}`;
}

/** Every full date of the text, in order; "March 2026" or "2024年" alone is none. */
export function findDates(text: string): FoundDate[] {
  const folded = foldWidth(text);
  const found: FoundDate[] = [];
  for (const { pattern, order } of PATTERNS) {
    for (const match of findMatches(folded, pattern)) {
      const iso = toIso(match.slice(1, 4), order);
      if (iso !== null) found.push({ iso, span: { start: match.index, end: match.index + match[0].length } });
    }
  }
  return found.sort((left, right) => left.span.start - right.span.start);
}
