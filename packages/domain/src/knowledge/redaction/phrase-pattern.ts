/**
 * A shorter phrase ("net", "5 days") appears in too much that is unrelated: it is found as whole words only.
 * Characters.
 */
const SHORT = 8;
/** For Chinese and Japanese, where a character says more and words are not separated by spaces. */
const SHORT_WITHOUT_BLANKS = 6;
const WITHOUT_BLANKS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * No letter or digit beside it (except an escape, in JSON within JSON), and not part of a longer number: "5" is neither
 * in "15" nor in "1.5" nor in "2026-01-05".
 */
const WORD_BEGINS = '(?:(?<![\\p{L}\\p{N}_])|(?<=\\\\[nrt]))(?<!\\p{N}[.,:/-])';
const WORD_ENDS = '(?![\\p{L}\\p{N}_])(?![.,:/-]\\p{N})';
/**
 * A phrase in Chinese that begins or ends with a digit or a Latin letter must not touch
 * another one: "5天" is not in "15天".
 */
const NUMBER_BEGINS = '(?<![\\p{Script=Latin}\\p{N}_])(?<!\\p{N}[.,:/-])';
const NUMBER_ENDS = '(?![\\p{Script=Latin}\\p{N}_])(?![.,:/-]\\p{N})';
/** The ends of the text, of a line or of a quotation. */
const STATEMENT_BEGINS = '(?<=(?:^|["“”„「」『』\\r\\n]|\\\\[nr])[ \\t]*)';
const STATEMENT_ENDS = '(?=[ \\t]*[.!?;。！？；]?[ \\t]*(?:$|["“”„「」『』\\r\\n\\\\]))';

/** True for a phrase that is too short to mean only itself. */
export function isShortPhrase(phrase: string): boolean {
  return [...phrase.trim()].length < (WITHOUT_BLANKS.test(phrase) ? SHORT_WITHOUT_BLANKS : SHORT);
}

/**
 * A regular expression's source that finds the phrase however its blanks differ; quotes and backslashes also as JSON
 * within JSON has them. A short one is found as whole words, in Chinese anywhere but within a number; a single Chinese
 * character as a whole statement.
 */
export function toSource(phrase: string): string {
  const words = phrase
    .split(/\s+/)
    .map((word) =>
      word
        .replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&')
        .replaceAll('\\\\', '\\\\+')
        .replaceAll('"', '\\\\*"'),
    )
    .join('(?:\\s|\\\\+[nrt])+');
  if (!isShortPhrase(phrase)) return words;
  if (!WITHOUT_BLANKS.test(phrase)) return `${WORD_BEGINS}${words}${WORD_ENDS}`;
  // A name of two characters stands within sentences; a single one stands in half of all words.
  if ([...phrase.trim()].length === 1) return `${STATEMENT_BEGINS}${words}${STATEMENT_ENDS}`;
  return `${/^[\p{Script=Latin}\p{N}]/u.test(phrase) ? NUMBER_BEGINS : ''}${words}${/[\p{Script=Latin}\p{N}]$/u.test(phrase) ? NUMBER_ENDS : ''}`;
}

/** At most so many words are looked for in the database. */
const MAX_FRAGMENTS = 3;

/**
 * Words of a phrase that stand in every text which holds it, however that text is escaped or its blanks differ: the
 * longest runs of letters and digits. Texts that lack one need not be read.
 */
export function toFragments(phrase: string): string[] {
  const runs = phrase.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(runs)].sort((a, b) => b.length - a.length).slice(0, MAX_FRAGMENTS);
}
