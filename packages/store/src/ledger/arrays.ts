/** PostgreSQL arrays as their text. The driver's own encoding copies each element several times, which shows where every row of a batch has a dozen. */
export function toNumberArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

export function toBooleanArray(values: readonly boolean[]): string {
  return `{${values.join(',')}}`;
}

/** JSON documents for `string_to_array($1, E'\\n')`: they hold no line break of their own, and as elements of an array each of their quotes would have to be escaped. */
export function toLines(documents: readonly string[]): string {
  return documents.join('\n');
}

const SPECIAL = /["\\]/;
const ALL_SPECIAL = /["\\]/g;

export function toTextArray(values: readonly (string | null)[]): string {
  let text = '{';
  let comma = '';
  for (const value of values) {
    if (value === null) text += `${comma}NULL`;
    else text += `${comma}"${SPECIAL.test(value) ? value.replace(ALL_SPECIAL, '\\$&') : value}"`;
    comma = ',';
  }
  return `${text}}`;
}
