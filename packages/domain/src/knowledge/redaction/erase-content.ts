/** What is to go from everything that tells of redacted versions. */
export type Erasure = {
  readonly knowledgeId: string;
  readonly versions: readonly number[];
  /** Wording, found however its blanks and its case differ. */
  readonly phrases: readonly string[];
  /** Hashes that were made of the wording. */
  readonly hashes: readonly string[];
};

export const ERASED = '[redacted]';
const ERASED_HASH = '0'.repeat(64);
/** Of an object that names a redacted version: what it says. The rest says where it came from and how it was judged. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(
  ['statement', 'assertion', 'value', 'quote', 'quotes', 'text', 'content', 'excerpt', 'passage', 'snippet'].concat([
    'sourceRef',
    'tags',
    'subject',
    'lineage',
  ]),
);

export type Eraser = {
  /** The value without what is to be erased; the very same one where nothing was found. */
  json<T>(value: T): T;
  text(text: string): string;
};

/** Finds and erases: wherever a phrase or hash stands in a text, and everything that an object says which names one of the versions. */
export function createEraser(erasure: Erasure): Eraser {
  const pattern = toPattern(erasure);
  const refs = new Set(erasure.versions.map((version) => `${erasure.knowledgeId}@${version}`));
  const text = (found: string): string =>
    pattern === null
      ? found
      : found.replace(pattern, (match) => (match.length === 64 && isHash(match) ? ERASED_HASH : ERASED));
  const names = (object: Readonly<Record<string, unknown>>): boolean =>
    (object['knowledgeId'] === erasure.knowledgeId && erasure.versions.includes(Number(object['version']))) ||
    ['fact', 'ref', 'id', 'factRef'].some((key) => refs.has(String(object[key])));
  const json = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return sameOr(value, value.map(json));
    if (typeof value !== 'object' || value === null) return value;
    const object = value as Readonly<Record<string, unknown>>;
    const named = names(object);
    const entries = Object.entries(object).map(
      ([key, item]) => [text(key), named && CONTENT_KEYS.has(key) ? blank(item) : json(item)] as const,
    );
    const changed = entries.some(([key, item]) => !(key in object) || object[key] !== item);
    return changed ? Object.fromEntries(entries) : value;
  };
  return { json: <T>(value: T) => json(value) as T, text };
}

function sameOr(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((item, at) => item === before[at]) ? before : after;
}

/** As a schema would still take it: a text stays one, a list is empty, an object is none. */
function blank(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : ERASED;
  if (Array.isArray(value)) return value.length === 0 ? value : [];
  return null;
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function toPattern({ phrases, hashes }: Erasure): RegExp | null {
  const words = phrases.map((phrase) => phrase.trim()).filter((phrase) => phrase !== '');
  const parts = [...words.map(toSource), ...hashes.filter(isHash)];
  // The longest first: of two that begin alike, the whole one goes.
  return parts.length === 0 ? null : new RegExp(parts.sort((a, b) => b.length - a.length).join('|'), 'giu');
}

/** Blanks of any kind; quotes and backslashes also as JSON within JSON has them. */
function toSource(phrase: string): string {
  return phrase
    .split(/\s+/)
    .map((word) =>
      word
        .replace(/[$()*+.?[\\\]^{|}/]/g, '\\$&')
        .replaceAll('\\\\', '\\\\+')
        .replaceAll('"', '\\\\*"'),
    )
    .join('(?:\\s|\\\\+[nrt])+');
}

/** At most so many words are looked for in the database. */
const MAX_FRAGMENTS = 3;

/**
 * Words of a phrase that stand in every text which holds it, however that text is escaped or its blanks differ: the longest runs of letters and digits.
 * Texts that lack one need not be read.
 */
export function toFragments(phrase: string): string[] {
  const runs = phrase.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(runs)].sort((a, b) => b.length - a.length).slice(0, MAX_FRAGMENTS);
}
