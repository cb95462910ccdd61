/** RFC 6901; undefined if there is nothing at that place. Own keys only. */
export function readPointer(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  let at = value;
  for (const token of pointer.slice(1).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
