import { readPointer } from './json-pointer.ts';

/** `{name}` inserts a value by its name, `{/a/b}` by a JSON pointer; `{{` and `}}` are braces. */
export type Template = { readonly text: string; readonly parts: readonly (string | { readonly name: string })[] };

const PART = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;

/** Throws a plain `Error` that says what is wrong with it; the configuration adds where. */
export function parseTemplate(text: string): Template {
  const parts: (string | { name: string })[] = [];
  let at = 0;
  for (const match of text.matchAll(PART)) {
    parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    const name = match[1];
    if (match[0] === '{{' || match[0] === '}}') parts.push(match[0].slice(0, 1));
    else if (name === undefined) throw new Error('a brace stands alone: write {name}, or {{ for a brace');
    else if (!/^(?:\/.*|[A-Za-z_][A-Za-z0-9_-]*)$/.test(name))
      throw new Error(`{${name}} is neither a name nor a JSON pointer`);
    else parts.push({ name });
  }
  parts.push(text.slice(at));
  return { text, parts: parts.filter((part) => part !== '') };
}

export function namesOf({ parts }: Template): string[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
}

/** The text with its values. A missing or null value leaves nothing; undefined if nothing at all could be filled in. */
export function fillTemplate(
  { parts }: Template,
  record: unknown,
  encode = (value: string) => value,
): string | undefined {
  let found = 0;
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      const value = toText(readPointer(record, part.name.startsWith('/') ? part.name : `/${part.name}`));
      if (value !== '') found += 1;
      text += encode(value);
    }
  }
  const wanted = parts.some((part) => typeof part !== 'string');
  return found === 0 && wanted ? undefined : text;
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value);
}
