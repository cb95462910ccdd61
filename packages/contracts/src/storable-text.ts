/**
 * Text that every reader of the bus and PostgreSQL accept: at most `max` UTF-16 units, no half of a surrogate pair, no
 * NUL. Our own errors quote hostile input; a quote that nobody can decode would turn the refusal itself into a dead
 * letter.
 */
export function toStorableText(text: string, max: number): string {
  const end = text.length > max && isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max;
  return text.slice(0, end).replaceAll('\0', '\uFFFD').toWellFormed();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
