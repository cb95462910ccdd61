import type { KnowledgeLayer } from '@cleanslate/contracts';

const DAY_MS = 86_400_000;
/** The share of importance left after a day: a half-life of 13.5 days. */
const DAILY = 0.95;
export const ARCHIVE_BELOW = 0.2;
const UNUSED_DAYS = 30;

/**
 * Importance as of now, for archiving only: ranking uses the layer's half-life. Always computed from the stored value
 * and the moment it was written, and never written back, so that it can't be lowered twice. Core facts don't fade.
 */
export function importanceNow(base: number, layer: KnowledgeLayer, writtenAt: number, now: number): number {
  if (layer === 'core') return base;
  return base * DAILY ** (Math.max(0, now - writtenAt) / DAY_MS);
}

/** A believed version with its last use; times in milliseconds. */
export type FadingVersion = {
  readonly knowledgeId: string;
  readonly version: number;
  readonly layer: KnowledgeLayer;
  readonly importance: number;
  readonly writtenAt: number;
  /** Null: no task read or cited it. */
  readonly lastUsedAt: number | null;
};

/** May this version be archived? It has faded, and was neither used nor written in the last 30 days. */
export function hasFaded(version: FadingVersion, now: number): boolean {
  const { importance, layer, writtenAt, lastUsedAt } = version;
  if (layer === 'core') return false;
  if (importanceNow(importance, layer, writtenAt, now) >= ARCHIVE_BELOW) return false;
  return now - Math.max(writtenAt, lastUsedAt ?? 0) > UNUSED_DAYS * DAY_MS;
}
