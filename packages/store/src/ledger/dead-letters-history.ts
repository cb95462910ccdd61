import type { ErrorBody } from '@cleanslate/contracts';

export type HistoryEntry = {
  readonly at: string;
  readonly attempt: number | null;
  readonly what: string;
  readonly error: ErrorBody | null;
};

/** However often it is replayed, a letter stays readable: it keeps the beginning and the end of its history. */
const KEPT_FIRST = 10;
const KEPT_LAST = 50;

export function mergeHistory(before: readonly HistoryEntry[], added: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const all = [...before, ...added];
  if (all.length <= KEPT_FIRST + KEPT_LAST) return all;
  return [...all.slice(0, KEPT_FIRST), ...all.slice(-KEPT_LAST)];
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
