import type { KnowledgeType } from '@cleanslate/contracts';
import { reaches, type SanitizeLevel } from './level.ts';
import { type Removal, type SanitizeFlag, sanitizeText } from './sanitize-text.ts';

/** What a source returned, with what is needed to judge whether it may be used. */
export interface RawEvidence {
  readonly id: string;
  readonly content: string;
  readonly knowledgeType: KnowledgeType;
  /** Shared by all versions of one thing; null: a thing of its own. */
  readonly series: string | null;
  readonly version: number;
  /** UTC as `toISOString` prints it, `[from, until)`; null is unbounded. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  /**
   * Was it believed at the pin's revision? No if it was corrected or retracted by then, or not yet known. Default true.
   */
  readonly believed?: boolean;
}

export interface CleanEvidence {
  readonly id: string;
  readonly content: string;
  readonly flags: readonly SanitizeFlag[];
  readonly removed: readonly Removal[];
}

export interface DroppedEvidence {
  readonly id: string;
  readonly why: 'expired' | 'not_yet_valid' | 'not_believed' | 'superseded' | 'credential';
}

export interface SanitizedEvidence {
  readonly kept: readonly CleanEvidence[];
  readonly dropped: readonly DroppedEvidence[];
}

export interface SanitizeOptions {
  readonly level: SanitizeLevel;
  readonly validAt: string;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** What isn't cleaned within this time stays raw, and says so. Milliseconds, default 200. */
  readonly budgetMs?: number;
}

function invalidity({ validFrom, validUntil }: RawEvidence, validAt: string): DroppedEvidence['why'] | null {
  if (validFrom !== null && validAt < validFrom) return 'not_yet_valid';
  return validUntil !== null && validUntil <= validAt ? 'expired' : null;
}

/** The newest of the versions that hold, for each series. */
function newestOf(items: readonly RawEvidence[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { series, version, believed } of items) {
    if (series !== null && believed !== false) newest.set(series, Math.max(version, newest.get(series) ?? version));
  }
  return newest;
}

/** Evidence as an agent may see it at the pin, in the order of arrival, with what was dropped and why. */
export function sanitizeEvidence(items: readonly RawEvidence[], options: SanitizeOptions): SanitizedEvidence {
  const { level, validAt, now, budgetMs = 200 } = options;
  const dropped: DroppedEvidence[] = [];
  const holding = items.filter((item) => {
    const why = reaches(level, 'expiry') ? invalidity(item, validAt) : null;
    if (why !== null) dropped.push({ id: item.id, why });
    return why === null;
  });
  const newest = reaches(level, 'versions') ? newestOf(holding) : new Map<string, number>();
  const until = now() + budgetMs;
  const kept: CleanEvidence[] = [];
  for (const { id, content, series, version, knowledgeType, believed } of holding) {
    if (believed === false && reaches(level, 'versions')) dropped.push({ id, why: 'not_believed' });
    else if (series !== null && version < (newest.get(series) ?? version)) dropped.push({ id, why: 'superseded' });
    else if (!reaches(level, 'full')) kept.push({ id, content, flags: [], removed: [] });
    else if (now() >= until) kept.push({ id, content, flags: ['time_limit'], removed: [] });
    else {
      const clean = sanitizeText(content, knowledgeType);
      if (clean.outcome === 'refused') dropped.push({ id, why: 'credential' });
      else kept.push({ id, content: clean.text, flags: clean.flags, removed: clean.removed });
    }
  }
  return { kept, dropped };
}
