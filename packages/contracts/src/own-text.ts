import { findStringEnd, isKey } from './hostile-json.ts';
import { MESSAGE_BOUNDS } from './json.ts';

/** The longest text that is read: 200 characters, each escaped. */
const VALUE = /\s*:\s*("(?:[^"\\]|\\.){0,1200}")/y;
const MAX_TEXT = 200;
const [QUOTE, BRACKET, END_BRACKET, BRACE, END_BRACE] = [34, 91, 93, 123, 125];

/**
 * The text under one of the outermost object's own keys, from JSON that must not be parsed: too large, broken or
 * refused. One pass that builds nothing, over as many strings as a message may hold. Undefined for anything but a
 * storable text of at most 200 characters.
 */
export function findOwnText(json: string, key: string): string | undefined {
  const quoted = `"${key}"`;
  let depth = 0;
  let strings = 0;
  for (let i = 0; i < json.length && strings <= MESSAGE_BOUNDS.keys; i++) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) {
      const end = findStringEnd(json, i + 1);
      if (depth === 1 && json.startsWith(quoted, i) && isKey(json, end)) return readText(json, end + 1);
      i = end;
      strings++;
    } else if (code === BRACE || code === BRACKET) depth++;
    else if (code === END_BRACE || code === END_BRACKET) depth--;
  }
  return undefined;
}

function readText(json: string, at: number): string | undefined {
  VALUE.lastIndex = at;
  try {
    const text = String(JSON.parse(VALUE.exec(json)?.[1] ?? ''));
    return text.length <= MAX_TEXT && text.isWellFormed() && !text.includes('\0') ? text : undefined;
  } catch {
    return undefined;
  }
}
