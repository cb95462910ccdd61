import { toFragments } from '@cleanslate/domain/ledger';

/**
 * A condition that is true of every text which holds one of the phrases (and of few others), with its
 * parameters, numbered from `first`.
 */
export function saying(
  text: string,
  phrases: readonly string[],
  first: number,
): { readonly sql: string; readonly values: string[][] } {
  // Letters and digits only: nothing that a pattern or a JSON text would escape.
  const patterns = phrases.map((phrase) => toFragments(phrase).map((fragment) => `%${fragment}%`));
  if (patterns.some((words) => words.length === 0)) return { sql: 'true', values: [] };
  const sql = patterns.map((_, at) => `${text} ILIKE ALL ($${first + at}::text[])`).join(' OR ');
  return { sql: sql === '' ? 'false' : `(${sql})`, values: patterns };
}
