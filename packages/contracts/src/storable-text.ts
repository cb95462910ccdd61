/**
 * Text as every reader of the bus and PostgreSQL take it: at most `max` UTF-16 units, never half of a surrogate pair, no NUL. What our own
 * errors quote comes from hostile input; a quote that nobody can decode would make the refusal itself a dead letter.
 */
export function toStorableText(text: string, max: number): string {
  const end = text.length > max && isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max;
  return text.slice(0, end).replaceAll('\0', '\uFFFD').toWellFormed();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
