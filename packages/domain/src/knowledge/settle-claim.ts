/** What the scheduler said about a task, as stored: it governs the task's candidates, whenever they arrive. */
export type StoredSettlement = {
  readonly verdict: 'passed' | 'unvalidated' | 'held';
  readonly validatorScore: number | null;
  readonly claims: readonly { readonly stepId: string; readonly attempt: number; readonly claimId: string }[];
};
export type CandidateClaim = { readonly stepId: string; readonly attempt: number; readonly claimId: string };

/**
 * Where a candidate goes: `wait` for the settlement, `hold` until retry or retention, `release` to screening, `drop`.
 */
export type Routing = 'wait' | 'hold' | 'release' | 'drop';

export function routeCandidate(settlement: StoredSettlement | undefined, claim: CandidateClaim): Routing {
  if (settlement === undefined) return 'wait';
  if (settlement.verdict === 'held') return 'hold';
  const won = settlement.claims.some(
    ({ stepId, attempt, claimId }) => stepId === claim.stepId && attempt === claim.attempt && claimId === claim.claimId,
  );
  return won ? 'release' : 'drop';
}

/** A completed task stays completed: a held settlement is replaced by any later one, any other is only repeated. */
export function mergeSettlement<S extends Pick<StoredSettlement, 'verdict'>>(stored: S | undefined, said: S): S {
  return stored === undefined || stored.verdict === 'held' ? said : stored;
}
