import { findInexactNumber, parseJsonText } from '@cleanslate/contracts';

/** Most places that are tried as the beginning of a JSON value: a text of brackets must not cost a pass for each. */
const MAX_STARTS = 200;

export type FoundJson = {
  readonly value: unknown;
  /** A number in it that is another one in `value`: an id of 19 digits has lost its last ones. Undefined: none is. */
  readonly inexact: string | undefined;
};

/**
 * The JSON values of an answer: the whole, or those between prose and fences. Values inside one that was read are not
 * looked for. Text that is not JSON is never repaired.
 */
export function findJson(answer: string): FoundJson[] {
  const whole = parse(answer);
  if (whole !== undefined) return [whole];
  const found: FoundJson[] = [];
  const text = withoutThinking(answer);
  let at = 0;
  for (let starts = 0; starts < MAX_STARTS; starts++) {
    const start = nextStart(text, at);
    if (start === -1) break;
    const end = findEnd(text, start);
    const read = end === -1 ? undefined : parse(text.slice(start, end));
    if (read !== undefined) found.push(read);
    at = read === undefined ? start + 1 : end;
  }
  return found;
}

/** What follows the thinking; everything if there was none; nothing if the thinking never ended. */
export function withoutThinking(answer: string): string {
  const last = [...answer.matchAll(/<\/(?:think|thinking|reasoning)>/gi)].at(-1);
  const rest = last === undefined ? answer : answer.slice(last.index + last[0].length);
  return rest.replace(/^\s*<(?:think|thinking|reasoning)>[\s\S]*$/i, '');
}

function parse(text: string): FoundJson | undefined {
  const trimmed = text.trim();
  if (!/^[{[]/.test(trimmed)) return undefined;
  try {
    return { value: parseJsonText(trimmed, 'answer'), inexact: findInexactNumber(trimmed) };
  } catch {
    return undefined;
  }
}

function nextStart(text: string, from: number): number {
  const starts = [text.indexOf('{', from), text.indexOf('[', from)].filter((at) => at !== -1);
  return starts.length === 0 ? -1 : Math.min(...starts);
}

/**
 * The offset after the bracket that closes the one at `start`; -1 if none does, or if it is nested deeper than any
 * reader accepts.
 */
function findEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at + 1);
    } else if (character === '{' || character === '[') {
      if (++depth > 64) return -1;
    } else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return -1;
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
