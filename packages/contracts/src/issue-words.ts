import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Not what a schema gave as its own words. */
const ZODS_OWN = /^Invalid (input$|discriminator value)/;
/**
 * A name of a kind, as somebody may have mistyped it. Anything else is not repeated: what was sent is
 * nobody's business but the sender's.
 */
const NAME = /^[\w.:-]{1,40}$/;

/**
 * What is wrong with a field, in words for who sent it: zod's own, but for those that name a type of its inside or
 * leave out what would be right. `value` is what was checked (from its root); with it, what stands where a choice
 * of kinds is made is repeated.
 */
export function issueWords(issue: Issue, value?: unknown): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith(', received undefined')) return 'is missing';
  if (issue.code !== 'invalid_union' || !ZODS_OWN.test(issue.message)) return issue.message;
  if (issue.errors.length > 0) return unionWords(issue.errors, valueAt(value, issue.path));
  return 'options' in issue && issue.options !== undefined
    ? choiceWords(issue.options, value, issue.path)
    : issue.message;
}

function unionWords(options: readonly (readonly Issue[])[], value: unknown): string {
  const kinds = options.map((issues) => issues.find((issue) => issue.code === 'invalid_value'));
  // All but one are of another kind: what is wrong with that one is meant.
  const meant = options.filter((_, option) => kinds[option] === undefined);
  const [only] = meant;
  if (meant.length === 1 && only !== undefined && options.length > 1 && isKind(kinds)) return optionWords(only, value);
  const [first] = kinds;
  if (meant.length === 0 && first !== undefined && isKind(kinds)) {
    const values = kinds.flatMap((kind) => kind?.values ?? []);
    return [...first.path.map(String), choiceWords(values, value, first.path)].join(' ');
  }
  const words = options.map((issues) => optionWords(issues, value)).filter((text) => text !== '');
  return `fits none of what is taken: ${[...new Set(words)].join('; or ')}`;
}

/** The same field tells all of them apart. */
function isKind(kinds: readonly (Issue | undefined)[]): boolean {
  return new Set(kinds.flatMap((kind) => (kind === undefined ? [] : [kind.path.join('.')]))).size === 1;
}

function optionWords([issue]: readonly Issue[], value: unknown): string {
  if (issue === undefined) return '';
  return [...issue.path.map(String), issueWords(issue, value).replace(/^Invalid input: /, '')].join(' ');
}

function choiceWords(choices: readonly unknown[], value: unknown, path: readonly PropertyKey[]): string {
  const taken = [...new Set(choices)].map((choice) => JSON.stringify(choice)).join(', ');
  const found = valueAt(value, path);
  if (typeof found === 'string' && NAME.test(found)) return `is "${found}": it must be one of ${taken}`;
  return found === undefined && value !== undefined
    ? `is missing: it must be one of ${taken}`
    : `must be one of ${taken}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (holder, key) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
        ? (holder as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );
}
