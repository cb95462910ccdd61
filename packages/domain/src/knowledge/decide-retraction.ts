import type { AssertedVersion, BelievedVersion, FactWrite } from './decide-fact-write.ts';
import { overlaps, subtractRanges, type ValidRange } from './valid-range.ts';

/**
 * Stops believing what was said for `range`: the versions there are closed, and what they say outside of it is asserted
 * anew. What was believed until now stays readable under the earlier revisions. `selected` limits it to some versions.
 */
export function decideRetraction<B>(
  believed: readonly BelievedVersion<B>[],
  nextVersion: number,
  range: ValidRange,
  selected: (version: BelievedVersion<B>) => boolean = () => true,
): FactWrite<B> {
  const affected = believed.filter((version) => overlaps(version.valid, range) && selected(version));
  const remainders = affected.flatMap(({ version, valid, body }) =>
    subtractRanges(valid, [range]).map((rest) => ({ valid: rest, body, remainderOf: version })),
  );
  const asserted: AssertedVersion<B>[] = remainders.map((item, index) => ({ ...item, version: nextVersion + index }));
  return {
    outcome: affected.length === 0 ? 'duplicate' : 'updated',
    closed: affected.map(({ version }) => version),
    asserted,
    holding: asserted.map(({ version }) => version),
  };
}
