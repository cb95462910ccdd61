import { toSearchTerms } from '@cleanslate/domain';

/** A value in CQL's double quotes. */
export function toCqlString(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

const MOST_WORDS = 12;
const WORDS = /[\p{Script=Han}&&\p{L}]+|[[\p{L}\p{N}]--\p{Script=Han}]+/gv;

export type CqlScope = { readonly spaces: readonly string[]; readonly labels: readonly string[] };

/**
 * The pages that contain any of a question's distinctive words, in Confluence's own order. `text ~` has a query
 * language of its own (`*`, `~`, `AND`, field names), so only letters and digits of the question are sent, each word by
 * itself; null if it has none.
 */
export function toCql(question: string, { spaces, labels }: CqlScope): string | null {
  const words = [...new Set(question.normalize('NFKC').match(WORDS) ?? [])];
  const telling = words.filter((word) => toSearchTerms(word).size > 0).slice(0, MOST_WORDS);
  if (telling.length === 0) return null;
  const said = telling.map((word) => `text ~ ${toCqlString(word.toLowerCase())}`).join(' OR ');
  return [
    'type = page',
    ...(spaces.length === 0 ? [] : [`space IN (${spaces.map(toCqlString).join(', ')})`]),
    ...(labels.length === 0 ? [] : [`label IN (${labels.map(toCqlString).join(', ')})`]),
    `(${said})`,
  ].join(' AND ');
}
