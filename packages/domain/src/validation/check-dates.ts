import type { VerdictReason } from '@cleanslate/contracts';
import { findDates } from '../quantities/index.ts';
import type { FigureClaim } from './check-figures.ts';

/** Every date of the claim must appear in `evidence`, in whatever notation. */
export function checkDates(claim: FigureClaim, evidence: readonly string[]): VerdictReason[] {
  const known = new Set(evidence.flatMap(findDates).map(({ iso }) => iso));
  return findDates(claim.text)
    .filter(({ iso }) => !known.has(iso))
    .map(({ iso, span }) => ({
      code: 'DATE_NOT_IN_EVIDENCE',
      path: claim.path,
      message: `The date «${claim.text.slice(span.start, span.end)}» (${iso}) is not in the evidence.`,
      remedy:
        known.size === 0
          ? 'Leave the date out, or cite the evidence it comes from.'
          : `Use a date of the evidence: ${[...known].sort().slice(0, 6).join(', ')}.`,
    }));
}
