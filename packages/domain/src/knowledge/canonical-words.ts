/**
 * Spellings of one meaning, in the order in which they are tried. A marker is a word of its own: its place in the
 * sentence counts.
 */
const MARKERS: readonly (readonly [pattern: RegExp, marker: string])[] = [
  [/\b(?:can|shall|won)['’]t\b/g, ' not '],
  [/\bcannot\b/g, ' may not '],
  [/n['’]t\b/g, ' not '],
  [/['’]s\b/g, ' '],
  [/\b(?:is|are|be)? ?(?:required|obliged|obligated) to\b|\b(?:must|shall|has to|have to)\b/g, ' must '],
  [
    /\b(?:is|are|be)? ?(?:entitled|permitted|allowed) to\b|\b(?:has|have) the right to\b|\b(?:may|can|might|could)\b/g,
    ' may ',
  ],
  [/\bought to\b/g, ' should '],
  [
    /\bnon-|\b(?:un|in|ir|im)(?=(?:able|limited|renewable|assignable|cancell?able|revocable|conditional|transferable)\b)/g,
    ' not ',
  ],
  [/\bwere\b/g, ' was '],
  [/不得|禁止|不可(?!抗)/g, ' must not '],
  [/必须|应当|务必|须|(?<!适|相|反|供|对)应(?!用|急|收|付|对)/g, ' must '],
  [/可以|有权|允许|(?<!许|认|不)可(?!能|靠|见)/g, ' may '],
  [/不|无|未|没有?|勿|毋/g, ' not '],
  [/是/g, '为'],
  [/的/g, ''],
];

/** Words without meaning of their own. "by", "to" and "from" are not among them: they decide who pays whom. */
const EMPTY = new Set('a an the is are be being in on at that this it its as do does'.split(' '));

/** The comma of "June 26, 1980" ends no phrase. */
const LEADING =
  /^\s*((?:in|on|at|within|from|since|after|before|during|under|by|upon|if|unless)\b(?:[^,.]|,(?=\s*\d{4}\b)){1,160}),\s+(.+?)[\s.]*$/is;

/**
 * "Within 30 days, the buyer must pay." → "the buyer must pay Within 30 days": the place of a phrase doesn't change the
 * meaning.
 */
export function moveLeadingPhrase(text: string): string {
  return text.replace(LEADING, '$2 $1');
}

/**
 * Content words in order, with negation and modal verbs as markers. Latin words are lower case and singular,
 * Chinese is cut into characters.
 */
export function toCanonicalWords(text: string): string[] {
  let marked = text.toLowerCase();
  for (const [pattern, marker] of MARKERS) marked = marked.replace(pattern, marker);
  const words = [...marked.matchAll(/\p{Script=Han}|[[\p{L}\p{N}]--\p{Script=Han}]+/gv)]
    .map(([word]) => word)
    .filter((word) => !EMPTY.has(word))
    .map(toSingular);
  return turnGenitives(words);
}

function toSingular(word: string): string {
  return word.length > 3 && /[^su]s$/.test(word) && /^[a-z]+$/.test(word) ? word.slice(0, -1) : word;
}

/** "term of lease" and "lease term" are the same. */
function turnGenitives(words: readonly string[]): string[] {
  const turned: string[] = [];
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? '';
    if (word !== 'of') turned.unshift(word);
    else {
      const owned = words[at - 1];
      const owner = turned.shift();
      if (owner !== undefined) turned.unshift(owner);
      if (owned !== undefined) turned.splice(owner === undefined ? 0 : 1, 0, owned);
      at--;
    }
  }
  return turned;
}
