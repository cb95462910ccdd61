/** Every match of a global pattern, in order, as `matchAll` gives them; that one copies the pattern at each call, which costs more than looking through a text that holds none. */
export function findMatches(text: string, pattern: RegExp): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) found.push(match);
  return found;
}
