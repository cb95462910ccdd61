import {
  AppError,
  Candidate,
  FactImport,
  type FactResolve,
  type FactView,
  type RequestOf,
} from '@cleanslate/contracts';
import {
  atLevelOf,
  type FactBody,
  type FactState,
  type FactWrite,
  placePeriod,
  type StatedPeriod,
  toCandidateBody,
  toImportedBody,
  toValidRange,
  type WriteDraft,
} from '@cleanslate/domain';
import type { Derivation, StoredDispute } from '@cleanslate/store';
import { parentsOf } from './decide-released.ts';

/**
 * What a decision does to the fact; `incumbent` is the version that was contradicted, and it stays as it is if it is
 * kept.
 */
export function carryOut(
  draft: WriteDraft,
  tenantId: string,
  dispute: StoredDispute,
  incumbent: FactView | undefined,
  keep: RequestOf<typeof FactResolve>['keep'],
  requestId: string,
  now: number,
) {
  if (keep === 'incumbent') return undefined;
  const { knowledgeId } = dispute;
  if (keep === 'neither') return retractIncumbent(draft, tenantId, dispute, incumbent);
  const state = draft.find(tenantId, knowledgeId);
  const periods = toPeriods(dispute, state, requestId, now);
  return draft.write(tenantId, knowledgeId, periods, (a, b) => a.contentHash === b.contentHash);
}

/**
 * Retracts what the incumbent said, under whatever version number it is believed by now. Throws `FACT_CONFLICT` if
 * nothing of it is believed.
 */
function retractIncumbent(
  draft: WriteDraft,
  tenantId: string,
  { disputeId, knowledgeId, incumbentVersion }: StoredDispute,
  incumbent: FactView | undefined,
) {
  const { validFrom, validUntil, contentHash } = incumbent ?? { validFrom: null, validUntil: null, contentHash: null };
  const valid = toValidRange(validFrom, validUntil, 'incumbent');
  const write = draft.retract(tenantId, knowledgeId, valid, ({ body }) => body.contentHash === contentHash);
  if (write.closed.length > 0) return write;
  throw new AppError(
    'FACT_CONFLICT',
    `nothing of what ${knowledgeId}@${incumbentVersion} said is believed any more, so there is nothing to take back: settle dispute ${disputeId} by keeping the incumbent (changes nothing) or the challenger`,
  );
}

function overBefore({ disputeId }: StoredDispute): AppError {
  return new AppError(
    'FACT_CONFLICT',
    `what contradicts it in dispute ${disputeId} was over before anybody said it, so nothing of it is left to believe: keep the incumbent, and state it with both its dates where it held`,
  );
}

/** A challenger that won rests on the grounds that it named. */
export function toDerivations(
  tenantId: string,
  { challenger, knowledgeId }: StoredDispute,
  { asserted }: Pick<FactWrite<FactBody>, 'asserted'>,
  revision: number,
): Derivation[] {
  const candidate = Candidate.safeParse(challenger);
  if (!candidate.success) return [];
  const said = asserted.filter(({ remainderOf }) => remainderOf === null);
  return parentsOf({ tenantId, body: candidate.data }).flatMap((parent) =>
    said.map(({ version }) => ({
      tenantId,
      knowledgeId,
      version,
      revision,
      upstreamId: parent.knowledgeId,
      upstreamVersion: parent.version,
    })),
  );
}

/**
 * The challenger as a person's statement: whoever confirms it answers for it. A challenger names no level, so the
 * fact's level never goes down; a row of an older release may hold a lower one.
 */
function toPeriods(dispute: StoredDispute, state: FactState, requestId: string, now: number): StatedPeriod<FactBody>[] {
  const imported = FactImport.safeParse(dispute.challenger);
  if (imported.success) {
    const { data } = imported;
    const source = {
      sourceRef: `dispute:${dispute.disputeId}`,
      sourceType: 'human_confirmed',
      messageId: requestId,
      saidAt: now,
    } as const;
    return data.periods.map((period) => ({
      valid: toValidRange(period.validFrom, period.validUntil, 'period'),
      body: atLevelOf(state, toImportedBody(data, period, source)),
    }));
  }
  const candidate = Candidate.parse(dispute.challenger);
  const { saidAt } = dispute;
  const time = (text: string | null | undefined) => (text == null ? null : Date.parse(text));
  const stated = { from: time(candidate.validFrom), until: time(candidate.validUntil) };
  const believed = state.believed.map(({ valid, body }) => ({ valid, sourceTime: body.sourceTime }));
  const valid = placePeriod(believed, stated, saidAt);
  if (valid === undefined) throw overBefore(dispute);
  const body = toCandidateBody(
    { ...candidate, sourceType: 'human_confirmed' },
    {
      candidateId: dispute.candidateId ?? requestId,
      taskId: '',
      messageId: requestId,
      saidAt: now,
      validatorScore: null,
      validated: true,
      parents: [],
    },
  );
  return [{ valid, body: { ...atLevelOf(state, body), taskId: null, candidateId: dispute.candidateId } }];
}
