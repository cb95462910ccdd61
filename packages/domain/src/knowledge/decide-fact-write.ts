import { overlaps, subtractRanges, type ValidRange } from './valid-range.ts';

/** A version as it is believed now. `B` is its content. */
export type BelievedVersion<B> = { readonly version: number; readonly valid: ValidRange; readonly body: B };

/** Something to be believed from now on, for a stretch of valid time. */
export type StatedPeriod<B> = { readonly valid: ValidRange; readonly body: B };

/** A version to be written. `remainderOf` names the closed version of which this is the part that still holds. */
export type AssertedVersion<B> = BelievedVersion<B> & { readonly remainderOf: number | null };

export type FactWrite<B> = {
  readonly outcome: 'accepted' | 'duplicate' | 'updated';
  /** Versions whose belief ends with this write. */
  readonly closed: readonly number[];
  readonly asserted: readonly AssertedVersion<B>[];
  /** Versions that say what was stated, new or known, in order of valid time. */
  readonly holding: readonly number[];
};

/**
 * Lays `periods` (which must not overlap) over what is believed: wherever a period says something else, it wins; what
 * it doesn't touch stays. A version that lost a part is closed and its rest asserted anew, so that no two versions of
 * one fact ever hold at once. Versions that already say the same stay as they are. Numbers continue from `nextVersion`,
 * remainders first.
 */
export function decideFactWrite<B>(
  believed: readonly BelievedVersion<B>[],
  nextVersion: number,
  periods: readonly StatedPeriod<B>[],
  same: (a: B, b: B) => boolean,
): FactWrite<B> {
  const closed: number[] = [];
  const remainders: Omit<AssertedVersion<B>, 'version'>[] = [];
  for (const version of believed) {
    const displacing = periods.filter(({ valid, body }) => overlaps(valid, version.valid) && !same(body, version.body));
    if (displacing.length === 0) continue;
    closed.push(version.version);
    const rest = subtractRanges(
      version.valid,
      displacing.map(({ valid }) => valid),
    );
    remainders.push(...rest.map((valid) => ({ valid, body: version.body, remainderOf: version.version })));
  }
  const parts: Omit<AssertedVersion<B>, 'version'>[] = [];
  const known: { version: number; from: number }[] = [];
  for (const { valid, body } of periods) {
    const equal = believed.filter((version) => overlaps(valid, version.valid) && same(body, version.body));
    known.push(...equal.map(({ version, valid: { from } }) => ({ version, from })));
    const rest = subtractRanges(
      valid,
      equal.map((version) => version.valid),
    );
    parts.push(...rest.map((part) => ({ valid: part, body, remainderOf: null })));
  }
  const inOrder = [...remainders.sort(byValidTime), ...parts.sort(byValidTime)];
  const asserted = inOrder.map((item, index) => ({ ...item, version: nextVersion + index }));
  return {
    outcome: asserted.length === 0 ? 'duplicate' : nextVersion === 1 ? 'accepted' : 'updated',
    closed,
    asserted,
    holding: holdingVersions(asserted, known, closed),
  };
}

function byValidTime(a: { valid: ValidRange }, b: { valid: ValidRange }): number {
  // Not a subtraction: -Infinity - -Infinity is NaN.
  return a.valid.from < b.valid.from ? -1 : a.valid.from > b.valid.from ? 1 : 0;
}

function holdingVersions<B>(
  asserted: readonly AssertedVersion<B>[],
  known: readonly { version: number; from: number }[],
  closed: readonly number[],
): number[] {
  const fresh = asserted
    .filter((item) => item.remainderOf === null || known.some(({ version }) => version === item.remainderOf))
    .map((item) => ({ version: item.version, valid: item.valid }));
  const kept = known
    .filter(({ version }) => !closed.includes(version))
    .map(({ version, from }) => ({ version, valid: { from, until: Number.POSITIVE_INFINITY } }));
  return [...new Set([...kept, ...fresh].sort(byValidTime).map(({ version }) => version))];
}
