import type { DisputeView } from '@cleanslate/contracts';
import { expect, test } from 'vitest';
import { isAbout, toOpenClaim } from './open-claim.ts';

const day = (date: string) => `${date}T00:00:00.000Z`;
/** Of one fact: what held until June, from June to September, and since then. */
const VERSIONS = [
  { from: null, until: day('2026-06-01') },
  { from: day('2026-06-01'), until: day('2026-09-01') },
  { from: day('2026-09-01'), until: null },
];

/** Said in March against the first version. */
function claim(dates: { readonly validFrom?: string; readonly validUntil?: string }) {
  const dispute: DisputeView = {
    disputeId: 1,
    knowledgeId: 'fee',
    incumbentVersion: 1,
    reason: 'says otherwise',
    openedAt: day('2026-03-01'),
    resolution: null,
    resolvedBy: null,
    resolvedAt: null,
    challenger: {
      statement: 'The fee is EUR 9.',
      assertion: null,
      knowledgeType: 'rule',
      tags: [],
      derivedFrom: [],
      sourceType: 'internal_document',
      sourceRef: 'minutes',
      confidence: 1,
      importance: 1,
      ...dates,
    },
  };
  return toOpenClaim(dispute, { from: null, until: day('2026-06-01') }, []);
}

test.each<[string, Parameters<typeof claim>[0], readonly boolean[]]>([
  ['no date: the version it was made against', {}, [true, false, false]],
  [
    'both: the versions of its time too',
    { validFrom: day('2026-07-01'), validUntil: day('2026-10-01') },
    [true, true, true],
  ],
  ['a beginning: until the next version begins', { validFrom: day('2026-02-01') }, [true, false, false]],
  ['an end: from when it was said', { validUntil: day('2026-08-01') }, [true, true, false]],
  ['an end behind all of them', { validUntil: day('2027-01-01') }, [true, true, true]],
  ['an end before it was said', { validUntil: day('2026-01-01') }, [true, false, false]],
])('a claim that names %s', (_what, dates, about) => {
  expect(VERSIONS.map((valid) => isAbout(claim(dates), { knowledgeId: 'fee', valid }))).toEqual(about);
});
