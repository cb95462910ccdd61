import { isDeepStrictEqual } from 'node:util';
import { type Fence, MAX_SESSION_BYTES, MAX_SESSION_ITEMS, type SessionItem } from '@cleanslate/contracts';
import type { SessionStore } from './session-store.ts';

type Kept = { items: (SessionItem & { key: string })[]; lastN: number; forgotten: number; extractedThrough: number };

/**
 * Tests only: sessions in memory, by tenant and id. They know no tasks, so everything said is shown, and nothing
 * expires. What a step says replaces what was said under its id before; `runInMemory` gives all rounds of a step one
 * id.
 */
export function memorySessions(): SessionStore {
  const sessions = new Map<string, Kept>();
  const find = (tenantId: string, sessionId: string): Kept => {
    const key = JSON.stringify([tenantId, sessionId]);
    const kept = sessions.get(key) ?? { items: [], lastN: 0, forgotten: 0, extractedThrough: 0 };
    sessions.set(key, kept);
    return kept;
  };
  return {
    read: async ({ sessionId, fence }) => {
      const { items, forgotten, extractedThrough } = find(fence.tenantId, sessionId);
      const own = keyPrefix(fence);
      return {
        sessionId,
        items: items.filter(({ key }) => !key.startsWith(own)).map(({ key: _, ...item }) => item),
        forgotten,
        extractedThrough,
        expiresAt: null,
      };
    },
    write: async ({ sessionId, fence, reset, items, extracted }) => {
      const kept = find(fence.tenantId, sessionId);
      if (reset) Object.assign(kept, { items: [], forgotten: 0, extractedThrough: kept.lastN });
      const own = keyPrefix(fence);
      const said = items.map(({ key, from, text }) => ({ key: `${own}${key}`, from, text }));
      if (!isDeepStrictEqual(said, kept.items.filter(({ key }) => key.startsWith(own)).map(toSaid))) {
        kept.items = kept.items.filter(({ key }) => !key.startsWith(own));
        for (const item of said)
          kept.items.push({ ...item, n: ++kept.lastN, taskId: fence.taskId, at: new Date().toISOString() });
      }
      while (kept.items.length > MAX_SESSION_ITEMS || sizeOf(kept.items) > MAX_SESSION_BYTES) {
        kept.items.shift();
        kept.forgotten++;
      }
      if (extracted !== null && kept.extractedThrough === extracted.after) kept.extractedThrough = extracted.through;
      return { sessionId, outcome: 'kept' };
    },
  };
}

function keyPrefix({ taskId, stepId }: Fence): string {
  return `${taskId}/${stepId}/`;
}

function toSaid({ key, from, text }: Kept['items'][number]) {
  return { key, from, text };
}

function sizeOf(items: readonly SessionItem[]): number {
  return items.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}
