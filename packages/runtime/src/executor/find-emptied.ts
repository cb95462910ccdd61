/**
 * Finds where a schema made `{}` of something that was no plain object (a `Date`, a `Map`, a promise that nobody
 * awaited): its content would be lost silently. Returns the path with what was there; undefined if there is none.
 */
export function findEmptied(given: unknown, parsed: unknown, path: string): string | undefined {
  if (!isObject(given) || !isObject(parsed)) return undefined;
  const keys = Object.keys(parsed);
  if (keys.length === 0 && !isPlain(given)) return `${path} is a ${nameOf(given)}`;
  for (const key of keys) {
    const found = findEmptied(given[key], parsed[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Also an object of another realm, whose `Object` is not ours. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  return value.constructor?.name || 'class instance';
}
