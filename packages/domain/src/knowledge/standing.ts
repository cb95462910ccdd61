import { contains, overlaps, subtractRanges, type ValidRange } from './valid-range.ts';

/**
 * A version on which others rest: what it said, when that was to be in force, and when it was written. Times in
 * milliseconds.
 */
export type Support = {
  readonly version: number;
  readonly signature: string;
  readonly valid: ValidRange;
  readonly writtenAt: number;
};

/** A version of the same fact as it is believed now. */
export type StandingVersion = { readonly version: number; readonly signature: string; readonly valid: ValidRange };

/** Why what rests on a version is in doubt. `retracted`: what it said is now unknown. */
export type MarkCause = 'superseded' | 'retracted' | 'expired';

/**
 * Does a version still stand, so that what was derived from it may stand too? It does while its fact says the same: at
 * this moment, or, for history (a period that was over when it was written), throughout that period; for a version that
 * isn't in force yet, at its beginning. So a rephrasing, a shift of dates that leaves this moment alone and a rollback
 * to the same statement cast no doubt. Null if it stands.
 */
export function findDoubt(support: Support, believed: readonly StandingVersion[], now: number): MarkCause | null {
  const same = believed.filter(({ signature }) => signature === support.signature);
  if (support.valid.until <= support.writtenAt) {
    const lost = subtractRanges(
      support.valid,
      same.map(({ valid }) => valid),
    );
    if (lost.length === 0) return null;
    return believed.some(({ valid }) => lost.some((part) => overlaps(part, valid))) ? 'superseded' : 'retracted';
  }
  return doubtAt(believed, same, Math.max(now, support.valid.from));
}

/**
 * The same for an answer about a moment of its own (`--valid-at`): later events don't change what was in force then,
 * but a correction of the past does. Whatever was in force only before or after that moment (history that a conclusion
 * was drawn from) is judged as usual.
 */
export function findDatedDoubt(
  support: Support,
  believed: readonly StandingVersion[],
  moment: number,
): MarkCause | null {
  if (!contains(support.valid, moment)) return findDoubt(support, believed, moment);
  const same = believed.filter(({ signature }) => signature === support.signature);
  return doubtAt(believed, same, moment);
}

function doubtAt(
  believed: readonly StandingVersion[],
  same: readonly StandingVersion[],
  moment: number,
): MarkCause | null {
  if (same.some(({ valid }) => contains(valid, moment))) return null;
  if (believed.some(({ valid }) => contains(valid, moment))) return 'superseded';
  return same.some(({ valid }) => valid.until <= moment) ? 'expired' : 'retracted';
}
