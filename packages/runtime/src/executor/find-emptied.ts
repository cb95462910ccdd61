/**
 * Where a schema made `{}` of something that was no plain object (a `Date`, a `Map`, a promise that nobody awaited), as a path with what stood there: all of it
 * would be lost without a word. Undefined where nothing was.
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

/** Also one of another realm, whose `Object` is not ours. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  return value.constructor?.name || 'class instance';
}
