const TEXT = Symbol('html');

/**
 * Markup that may appear in a page. Only `html` makes it, so every text from outside is escaped, wherever it appears.
 */
export type Html = { readonly [TEXT]: string };
export type Value = Html | string | number | null | undefined | false | readonly Value[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A template whose values are escaped; null, undefined and false become nothing. Throws if a value would be an unquoted
 * attribute.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0] ?? '';
  for (const [i, value] of values.entries()) {
    if (text.endsWith('='))
      throw new Error('a value must stand in quotes: a blank in it would begin another attribute');
    text += toText(value) + (strings[i + 1] ?? '');
  }
  return { [TEXT]: text };
}

export function toMarkup(markup: Html): string {
  return markup[TEXT];
}

/** A path of ours; inserted values can't leave their place. */
export function path(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return values.reduce((text, value, i) => text + encodeURIComponent(value) + (strings[i + 1] ?? ''), strings[0] ?? '');
}

/** `?a=1&b=2` of the given values; empty if there are none. */
export function query(fields: Readonly<Record<string, string | number | undefined>>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(present.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

function toText(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
  if (typeof value === 'number') return String(value);
  return isList(value) ? value.map(toText).join('') : value[TEXT];
}

function isList(value: Html | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}
