/** A condition whose `?` stand for the values, in order; left out if the first of them is undefined. */
export type Condition = readonly [sql: string, ...values: unknown[]];

/**
 * Only the requested conditions. One text for all of them ("$1 IS NULL OR state = $1") would be planned once for any
 * combination, and then read all of a tenant's rows. The texts stay constants, so that their number is bounded.
 */
export function toConditions(given: readonly Condition[]): { readonly sql: string; readonly values: unknown[] } {
  const asked = given.filter(([, first]) => first !== undefined);
  let number = 0;
  const sql = asked.map(([text]) => ` AND ${text.replace(/\?/g, () => `$${++number}`)}`).join('');
  return { sql, values: asked.flatMap(([, ...values]) => values) };
}
