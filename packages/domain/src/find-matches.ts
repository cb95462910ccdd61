/**
 * Every match of a global pattern, in order, as `matchAll` gives them; that one copies the pattern at each call, which
 * costs more than looking through a text that holds none. Throws a `TypeError` where the pattern isn't global: it would
 * find its first match for ever.
 */
export function findMatches(text: string, pattern: RegExp): RegExpExecArray[] {
  if (!pattern.global) throw new TypeError(`${pattern} is not global`);
  const found: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found.push(match);
    if (match[0] === '') pattern.lastIndex = nextIndex(text, pattern);
  }
  return found;
}

/** One character on; a pattern that reads code points would go back from the middle of one. */
function nextIndex(text: string, { lastIndex, unicode, unicodeSets }: RegExp): number {
  const isPair = (unicode || unicodeSets) && (text.codePointAt(lastIndex) ?? 0) > 0xffff;
  return lastIndex + (isPair ? 2 : 1);
}
