import { foldWidth } from '../quantities/fold-width.ts';
import { findDates, findQuantities } from '../quantities/index.ts';
import { moveLeadingPhrase, toCanonicalWords } from './canonical-words.ts';

/** What decides whether two wordings can mean the same, read from the text alone. */
export type TextFeatures = {
  /** In order: "30 days for A, 60 for B" is not "60 days for A, 30 for B". */
  readonly quantities: readonly string[];
  readonly dates: readonly string[];
  /** Number of negating words: "not renewable" and "renewable" have a similarity of 0.93 for an encoder. */
  readonly negations: number;
  readonly modalities: readonly string[];
  /** Content words (Latin) and characters (Chinese) in order, without numbers: who owes whom is a matter of order. */
  readonly words: readonly string[];
};
export type HardFeatures = Omit<TextFeatures, 'words'>;

const NEGATIONS =
  /\b(?:not|no|never|none|neither|nor|without|cannot|nothing|except|unless)\b|n't\b|\bnon-|\b(?:un|in|ir|im)(?=(?:able|limited|renewable|assignable|cancell?able|revocable|conditional|transferable)\b)|不|无|未|非|没|勿|毋|禁止|除外/gi;

const MODALITIES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['must', /\b(?:must|shall|required to|has to|have to|obliged to|obligated to)\b|必须|应当|须|务必|(?<!适)应(?!用)/i],
  ['should', /\b(?:should|ought to|recommended)\b|宜|建议/i],
  ['may', /\b(?:may|can|might|could|entitled to|right to|permitted to|allowed to)\b|可以|有权|可(?!能)|允许/i],
  ['must_not', /\b(?:must|shall|may|can) ?not\b|\bcannot\b|不得|禁止|不可/i],
];

const STOPWORDS = new Set(
  'a an the of is are was were be been to in on at for by with and or that this as its it'.split(' '),
);

/** Statement → features. Linear in the text's length. */
export function findTextFeatures(statement: string): TextFeatures {
  const { features, text, spans } = readFeatures(statement);
  return { ...features, words: toCanonicalWords(blank(text, spans)) };
}

/**
 * The same without the words, which are half of the work: for statements with an assertion that says what they are
 * about.
 */
export function findHardFeatures(statement: string): HardFeatures {
  return readFeatures(statement).features;
}

function readFeatures(statement: string) {
  const text = moveLeadingPhrase(foldWidth(statement.normalize('NFC')).replace(/\s+(?=[,.;:!?])/g, ''));
  const dates = findDates(text);
  const quantities = findQuantities(text, dates);
  const features: HardFeatures = {
    quantities: quantities.map(({ value, unit, per, currency }) => [value, unit, per ?? '', currency ?? ''].join('|')),
    dates: dates.map(({ iso }) => iso),
    negations: text.match(NEGATIONS)?.length ?? 0,
    modalities: MODALITIES.filter(([, pattern]) => pattern.test(text)).map(([name]) => name),
  };
  return { features, text, spans: [...quantities, ...dates].map(({ span }) => span) };
}

/** Latin words in lower case and Chinese character pairs, in order, with repetitions. */
export function findWords(text: string): string[] {
  const words: string[] = [];
  for (const [run] of text.toLowerCase().matchAll(/[\p{Script=Han}]+|[\p{L}\p{N}]+/gu)) {
    if (!/^\p{Script=Han}/u.test(run)) {
      if (!STOPWORDS.has(run)) words.push(run);
    } else words.push(...toBigrams(run));
  }
  return words;
}

/** "违约金" → 违约, 约金; a single character stays one. */
export function toBigrams(run: string): string[] {
  const chars = [...run];
  if (chars.length < 2) return chars;
  return chars.slice(1).map((char, index) => `${chars[index] ?? ''}${char}`);
}

function blank(text: string, spans: readonly { start: number; end: number }[]): string {
  let out = '';
  let at = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    out += `${text.slice(at, start)} `;
    at = end;
  }
  return out + text.slice(at);
}
