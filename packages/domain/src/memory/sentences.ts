const END = /[.!?]["'”’)\]]{0,2}(?=\s|$)|[。！？；…][”’」』）]{0,2}|\n+/g;
/**
 * A full stop after these, or after a single letter, doesn't end a sentence: "approx. 5 %", "No.
 * 12", "e.g. rent", "J. Smith".
 */
const ABBREVIATED =
  /(?:^|[\s(["'“‘])(?:no|nos|approx|ca|cf|vs|art|arts|sec|fig|eq|para|vol|pp?|e\.g|i\.e|etc|incl|excl|mr|mrs|ms|dr|st|inc|ltd|co|[a-z])\.$/i;

/**
 * Where sentences end, as offsets after each, including the end of the text. Never inside a number, nor after an
 * abbreviation. Linear.
 */
export function findSentenceEnds(text: string): number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(END)) {
    const end = match.index + match[0].length;
    if (match[0].startsWith('.') && ABBREVIATED.test(text.slice(Math.max(0, match.index - 8), match.index + 1)))
      continue;
    ends.push(end);
  }
  if (text !== '' && ends.at(-1) !== text.length) ends.push(text.length);
  return ends;
}

/** The sentences of a text, trimmed, in order. */
export function splitSentences(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const end of findSentenceEnds(text)) {
    const sentence = text.slice(start, end).trim();
    if (sentence !== '') sentences.push(sentence);
    start = end;
  }
  return sentences;
}
