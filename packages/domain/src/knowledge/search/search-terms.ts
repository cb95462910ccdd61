import { stemmer } from 'stemmer';
import { findMatches } from '../../find-matches.ts';

/** Changes whenever the same text gives other terms: texts cut by another version are cut again. */
export const TERM_NORMALISER = 'porter+han-1-2';

const ENGLISH_STOP = new Set(
  `a about above after again all am an and any are as at be because been before being below between both but by can could did do does doing down
  during each few for from further had has have having he her here hers him his how i if in into is it its itself just me more most my no nor not
  now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through
  to too under until up very was we were what when where which while who whom why will with would you your`.split(
    /\s+/,
  ),
);
/** Characters so frequent that alone they mean nothing; in pairs they stay. */
const HAN_STOP = new Set('的了在是和有为与及或等不以于其之者所由对将被从到也都而并但这那个一上下中');

/** Longest term kept: anything longer is a blob, and index keys are limited. */
const MAX_TERM = 40;
const RUNS = /\p{Script=Han}+|[[\p{L}\p{N}]--\p{Script=Han}]+/gv;

/**
 * The terms a text can be found by, with the number of occurrences: English stems, Chinese characters and pairs. Linear
 * in the text's length.
 */
export function toSearchTerms(text: string): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (term: string) => terms.set(term, (terms.get(term) ?? 0) + 1);
  for (const [run] of findMatches(text.normalize('NFKC').toLowerCase(), RUNS)) {
    if (/^\p{Script=Han}/u.test(run)) addHan(run, add);
    else if (!ENGLISH_STOP.has(run)) add(toStem(run.slice(0, MAX_TERM)));
  }
  return terms;
}

function toStem(word: string): string {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word;
}

function addHan(run: string, add: (term: string) => void): void {
  let before = '';
  for (const char of run) {
    if (!HAN_STOP.has(char)) add(char);
    if (before !== '') add(before + char);
    before = char;
  }
}
