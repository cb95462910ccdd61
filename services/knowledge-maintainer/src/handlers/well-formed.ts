/**
 * Path of the first string that PostgreSQL can't store (half a surrogate pair, NUL), or undefined. Depth
 * is bounded by the JSON reader.
 */
export function findMalformed(value: unknown, path = 'data'): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0') ? undefined : path;
  if (Array.isArray(value))
    return findFirst(
      value.map((item, index) => [String(index), item] as const),
      path,
    );
  if (typeof value === 'object' && value !== null) return findFirst(Object.entries(value), path);
  return undefined;
}

function findFirst(entries: readonly (readonly [string, unknown])[], path: string): string | undefined {
  for (const [key, item] of entries) {
    const found = findMalformed(item, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
