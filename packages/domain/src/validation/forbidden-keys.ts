/**
 * Names under which an agent's working would travel from step to step. No contract may declare them and no output may
 * carry them.
 */
export const FORBIDDEN_KEYS = [
  'messages',
  'thoughts',
  'scratchpad',
  'reasoning',
  'raw_chunks',
  'history',
  'chat_history',
  'chain_of_thought',
  'reasoning_content',
] as const;

const FORBIDDEN: ReadonlySet<string> = new Set(FORBIDDEN_KEYS.map(normalize));

/** "raw-chunks", "rawChunks", "ＲＡＷ＿chunks" and one with a zero-width character inside are all the same name. */
function normalize(key: string): string {
  return key
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]/gu, '');
}

export function isForbiddenKey(key: string): boolean {
  // Most keys are short and plain: their length alone rules them out.
  return key.length >= 7 && key.length <= 64 && FORBIDDEN.has(normalize(key));
}

/**
 * The path of the first forbidden key at any depth, or null. Iterative, so that deep JSON cannot overflow the stack.
 */
export function findForbiddenKey(value: unknown): string | null {
  const open: { readonly value: unknown; readonly path: string }[] = [{ value, path: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const list = Array.isArray(next.value);
    for (const [key, child] of Object.entries(next.value)) {
      const path = next.path === '' ? key : `${next.path}.${key}`;
      if (!list && isForbiddenKey(key)) return path;
      open.push({ value: child, path });
    }
  }
  return null;
}
