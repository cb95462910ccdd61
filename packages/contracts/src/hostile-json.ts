/** Keys that reach a prototype when a careless reader assigns them. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** `constructor` with every letter escaped. */
const LONGEST_SPELLING = 'constructor'.length * '\\u0000'.length;

/** How much structure a text may hold: each key and each value costs a reader time and memory, however short it is. */
export type JsonBounds = { readonly keys: number; readonly values: number };

const [QUOTE, BACKSLASH, COLON, COMMA, BLANK, LETTER_U] = [34, 92, 58, 44, 32, 117];
const UNBOUNDED: JsonBounds = { keys: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY };
const SEND_LESS = 'send less, or send it as the text of a document';
const [BRACKET, END_BRACKET, BRACE, END_BRACE] = [91, 93, 123, 125];

/**
 * Finds what no service may accept in JSON text: nesting beyond `maxDepth`, more structure than `bounds`, a forbidden
 * key however it is spelled, an escaped NUL or half of a surrogate pair (PostgreSQL stores neither). One pass before
 * `JSON.parse` builds anything: no recursion, and no reviver, which costs ten times the parse itself (8 MiB of `""`
 * blocked the process for seconds). For text that is not JSON it may report anything or nothing.
 */
export function findHostile(text: string, maxDepth: number, bounds?: JsonBounds): string | undefined {
  const { keys: maxKeys, values: maxValues } = bounds ?? UNBOUNDED;
  const hasBackslashes = text.includes('\\');
  const hasEscapes = hasBackslashes && text.includes('\\u');
  const mayHoldKey = hasEscapes || [...FORBIDDEN_KEYS].some((key) => text.includes(key));
  let depth = 0;
  let keys = 0;
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const end = hasBackslashes ? findStringEnd(text, i + 1) : text.indexOf('"', i + 1);
      if (end < 0) break;
      const found =
        (hasEscapes ? findBadEscape(text, i + 1, end) : undefined) ??
        (mayHoldKey ? findForbiddenKey(text, i, end) : undefined);
      if (found !== undefined) return `holds ${found}: remove it`;
      i = end;
    } else if (code === BRACE || code === BRACKET) {
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth} levels: flatten it`;
      if (++values > maxValues) return `holds more than ${maxValues} values: ${SEND_LESS}`;
    } else if (code === COMMA) {
      if (++values > maxValues) return `holds more than ${maxValues} values: ${SEND_LESS}`;
    } else if (code === COLON) {
      if (++keys > maxKeys) return `holds more than ${maxKeys} keys: ${SEND_LESS}`;
    } else if (code === END_BRACE || code === END_BRACKET) depth--;
  }
  return undefined;
}

export function findStringEnd(text: string, start: number): number {
  let i = start;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) break;
    i += code === BACKSLASH ? 2 : 1;
  }
  return i;
}

function findBadEscape(text: string, start: number, end: number): string | undefined {
  let high = false;
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i) === BACKSLASH ? toEscapedUnit(text, i) : -1;
    if (unit === 0) return 'a NUL character';
    const low = unit >= 0xdc00 && unit <= 0xdfff;
    if (high !== low) return 'an unpaired surrogate';
    high = unit >= 0xd800 && unit <= 0xdbff;
    if (text.charCodeAt(i) === BACKSLASH) i += text.charCodeAt(i + 1) === LETTER_U ? 5 : 1;
  }
  return high ? 'an unpaired surrogate' : undefined;
}

/** The UTF-16 unit of `\uXXXX` at `at`; -1 for any other escape. */
function toEscapedUnit(text: string, at: number): number {
  if (text.charCodeAt(at + 1) !== LETTER_U) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const code = text.charCodeAt(i);
    // Digits and letters differ in the bit 64; letters of both cases end in the same four bits.
    unit = unit * 16 + (code & 15) + (code & 64 ? 9 : 0);
  }
  return unit;
}

function findForbiddenKey(text: string, quote: number, end: number): string | undefined {
  if (end - quote - 1 > LONGEST_SPELLING || !isKey(text, end)) return undefined;
  const raw = text.slice(quote + 1, end);
  const key = raw.includes('\\') ? unescapeText(raw) : raw;
  return FORBIDDEN_KEYS.has(key) ? `the key "${key}"` : undefined;
}

/** A colon follows a key and nothing else. */
export function isKey(text: string, end: number): boolean {
  let i = end + 1;
  while (text.charCodeAt(i) <= BLANK) i++;
  return text.charCodeAt(i) === COLON;
}

function unescapeText(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}
