import type { AccessLevel, DisputeView } from '@cleanslate/contracts';
import { type Interval, intersect } from '../planning/interval.ts';
import { accessLevelOf } from './fact-body.ts';
import { highestLevel } from './trust.ts';

/** A claim against a fact that nobody has decided on, as readers of the fact need it. */
export type OpenClaim = DisputeView & {
  /** Who may read it. */
  readonly accessLevel: AccessLevel;
  /** The times that it is about. */
  readonly periods: readonly Interval[];
};

/**
 * A claim is about the time of the version that it was made against, and about the periods that it names itself. It is
 * as restricted as it would be as a version: `levels` are those of what was believed of the fact when it was made.
 */
export function toOpenClaim(dispute: DisputeView, incumbent: Interval, levels: readonly AccessLevel[]): OpenClaim {
  const accessLevel = highestLevel(accessLevelOf(dispute.challenger), ...levels);
  return { ...dispute, accessLevel, periods: [incumbent, ...periodsNamed(dispute)] };
}

/** If the fact has several versions, a claim is made against those of its time. */
export function isAbout(
  { knowledgeId, periods }: OpenClaim,
  version: { knowledgeId: string; valid: Interval },
): boolean {
  return knowledgeId === version.knowledgeId && periods.some((period) => intersect(period, version.valid) !== null);
}

/**
 * Where it would be placed if it won. Without an end it lasts until the next period known to begin, since it is about
 * one version only, the incumbent. Without a beginning it begins when it was said, and may end after other versions
 * than that.
 */
function periodsNamed({ challenger, openedAt }: DisputeView): Interval[] {
  if ('periods' in challenger)
    return challenger.periods.map(({ validFrom, validUntil }) => ({ from: validFrom, until: validUntil }));
  const { validFrom, validUntil } = challenger;
  return validUntil == null ? [] : [{ from: validFrom ?? openedAt, until: validUntil }];
}
