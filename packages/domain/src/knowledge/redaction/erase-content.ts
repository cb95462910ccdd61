import { isFieldName, toErasable } from './name-fields.ts';
import { isShortPhrase, toSource } from './phrase-pattern.ts';

/** What must be removed from everything that mentions redacted versions. */
export type Erasure = {
  readonly knowledgeId: string;
  readonly versions: readonly number[];
  /** Wordings, found whatever their spacing and case. */
  readonly phrases: readonly string[];
  /** Hashes that were made from the wordings. */
  readonly hashes: readonly string[];
};

export const ERASED = '[redacted]';
const ERASED_HASH = '0'.repeat(64);
/** For an object that names a redacted version: its content. The rest says where it came from and how it was judged. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(
  ['statement', 'assertion', 'value', 'quote', 'quotes', 'text', 'content', 'excerpt', 'passage', 'snippet'].concat([
    'sourceRef',
    'tags',
    'subject',
    'lineage',
  ]),
);

export type Eraser = {
  /** The value without what must be erased; the very same value if nothing was found. */
  json<T>(value: T): T;
  text(text: string): string;
};

/**
 * Finds and erases: every text that contains a phrase or hash, and all content of an object that names one of the
 * versions. Field names stay, and so do values that name or choose something, so that whoever could read a value can
 * still read it.
 */
export function createEraser({ knowledgeId, versions, phrases, hashes }: Erasure): Eraser {
  const all = toPattern(phrases, hashes);
  const long = toPattern(
    phrases.filter((phrase) => !isShortPhrase(phrase)),
    hashes,
  );
  const refs = new Set(versions.map((version) => `${knowledgeId}@${version}`));
  const names = (object: Readonly<Record<string, unknown>>): boolean =>
    (object['knowledgeId'] === knowledgeId && versions.includes(Number(object['version']))) ||
    ['fact', 'ref', 'id', 'factRef'].some((key) => refs.has(String(object[key])));
  const field = (key: string | null, text: string): string => {
    const erasable = toErasable(key, text);
    return erasable === 'nothing' ? text : replaceIn(text, erasable === 'long' ? long : all);
  };
  const json = (key: string | null, value: unknown): unknown => {
    if (typeof value === 'string') return field(key, value);
    if (Array.isArray(value))
      return sameOr(
        value,
        value.map((item) => json(key, item)),
      );
    if (typeof value !== 'object' || value === null) return value;
    const object = value as Readonly<Record<string, unknown>>;
    const named = names(object);
    const entries = Object.entries(object).map(
      ([name, item]) =>
        [
          isFieldName(name) ? name : replaceIn(name, long),
          named && CONTENT_KEYS.has(name) ? blank(item) : json(name, item),
        ] as const,
    );
    const changed = entries.some(([name, item]) => !(name in object) || object[name] !== item);
    return changed ? Object.fromEntries(entries) : value;
  };
  return { json: <T>(value: T) => json(null, value) as T, text: (text) => replaceIn(text, all) };
}

function replaceIn(text: string, pattern: RegExp | null): string {
  if (pattern === null) return text;
  return text.replace(pattern, (match) => (isHash(match) ? ERASED_HASH : ERASED));
}

function sameOr(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, at) => item === before[at]) ? before : after;
}

/** In a form that its schema still accepts: a text stays a text, a list becomes empty, an object becomes `{}`. */
function blank(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : ERASED;
  if (Array.isArray(value)) return value.length === 0 ? value : [];
  return null;
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function toPattern(phrases: readonly string[], hashes: readonly string[]): RegExp | null {
  const words = phrases.map((phrase) => phrase.trim()).filter((phrase) => phrase !== '');
  // The longest first: of two that begin alike, the whole one is erased.
  const sources = words.sort((a, b) => b.length - a.length).map(toSource);
  const parts = [...hashes.filter(isHash), ...sources];
  // What was erased before stays as it is, even if somebody wants the word "redacted" erased.
  return parts.length === 0 ? null : new RegExp([toSource(ERASED), ...parts].join('|'), 'giu');
}
