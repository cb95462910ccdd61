import type { FactView, VerdictReason } from '@cleanslate/contracts';

export interface PinnedAt {
  /** UTC, as `Date.prototype.toISOString` prints it. */
  readonly validAt: string;
  readonly revision: number;
}

type Dated = Pick<FactView, 'validFrom' | 'validUntil' | 'revisionFrom' | 'revisionUntil'>;

/**
 * Is this version in force at the pin, on both time axes? Ranges are `[from, until)`; ISO strings in UTC compare as
 * text.
 */
export function holdsAt(fact: Dated, pin: PinnedAt): boolean {
  const valid = (fact.validFrom ?? '') <= pin.validAt && (fact.validUntil === null || pin.validAt < fact.validUntil);
  const believed =
    fact.revisionFrom <= pin.revision && (fact.revisionUntil === null || pin.revision < fact.revisionUntil);
  return valid && believed;
}

/** The version that `ref` (`knowledgeId@version`) names, or why it can't be cited at the pin. */
export function checkFactRef(
  ref: string,
  path: string,
  facts: readonly FactView[],
  pin: PinnedAt,
): { readonly fact: FactView } | { readonly reason: VerdictReason } {
  const at = ref.lastIndexOf('@');
  const knowledgeId = ref.slice(0, at);
  const versions = facts.filter((fact) => fact.knowledgeId === knowledgeId);
  const holding = versions.find((fact) => holdsAt(fact, pin));
  const cited = versions.find((fact) => `${fact.version}` === ref.slice(at + 1));
  const remedy =
    holding === undefined
      ? `No version of ${knowledgeId} holds at the pin: leave the claim out.`
      : `Cite ${knowledgeId}@${holding.version}, which holds at the pin: «${holding.statement.slice(0, 300)}».`;
  if (cited === undefined) {
    return {
      reason: { code: 'FACT_UNKNOWN', path, message: `${ref} is not among the facts of the task's pin.`, remedy },
    };
  }
  if (!holdsAt(cited, pin)) {
    const range = `${cited.validFrom ?? 'always'} to ${cited.validUntil ?? 'further notice'}`;
    return {
      reason: {
        code: 'FACT_NOT_VALID_AT_PIN',
        path,
        message: `${ref} holds from ${range}, not at ${pin.validAt} (revision ${pin.revision}).`,
        remedy,
      },
    };
  }
  return { fact: cited };
}
