import type { Terms } from './contracts.ts';
import { CANARIES, RIGHT } from './policies.ts';

/** What the key found in one result. */
export type Marked = {
  /** Comparisons that rest on something other than the version that holds. */
  readonly wrongVersionUses: number;
  /** Canaries that the result holds. */
  readonly leaks: number;
  /** Comparisons that are missing, or that come out otherwise than by hand. */
  readonly misjudgements: number;
};

type Claim = {
  readonly clause: string;
  readonly policy: string;
  readonly problem: string | null;
  readonly expected: { readonly predicate: string; readonly value: string };
};
type Said = { readonly findings: readonly Claim[]; readonly compliant: readonly Omit<Claim, 'problem'>[] };

/**
 * Marks one report by the terms its contract was made from. Knows nothing of the review, its rules or its validator.
 */
export function mark(report: Said, terms: Terms): Marked {
  const claims = [...report.findings, ...report.compliant.map((claim) => ({ ...claim, problem: null }))];
  const rightOf = ({ policy, expected }: Claim) =>
    RIGHT.find(
      ({ id, predicate, value }) =>
        policy.slice(0, policy.lastIndexOf('@')) === id && expected.predicate === predicate && expected.value === value,
    );
  const misjudged = RIGHT.filter((right) => {
    const own = claims.filter((claim) => rightOf(claim) === right);
    return own.length !== 1 || own[0]?.problem !== right.expected(terms) || own[0]?.clause !== right.clause;
  });
  const text = JSON.stringify(report);
  return {
    wrongVersionUses: claims.filter((claim) => rightOf(claim) === undefined).length,
    leaks: Object.values(CANARIES).filter((canary) => text.includes(canary)).length,
    misjudgements: misjudged.length,
  };
}
