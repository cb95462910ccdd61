import {
  type CandidateChange,
  insertAudit,
  insertDerivations,
  insertDisputes,
  insertSightings,
  type StoredCandidate,
  saveCandidateChanges,
  type Tx,
} from '@cleanslate/store';
import { type Decided, parentsOf } from './decide-released.ts';
import type { Routed } from './route-candidates.ts';
import type { WrittenBatch } from './write-batch.ts';

/** Writes what became of each candidate, with its audit row, sighting, dispute and parents. Returns the changes. */
export async function recordDecisions(
  tx: Tx,
  decided: readonly Decided[],
  routed: Pick<Routed, 'held' | 'dropped'>,
  written: WrittenBatch,
): Promise<readonly CandidateChange[]> {
  const changes: CandidateChange[] = [
    ...decided.map(({ candidate, decision }) => ({
      ...nameOf(candidate),
      state: 'settled' as const,
      outcome: decision.outcome,
      knowledgeId: decision.knowledgeId,
      version: decision.version,
      reason: decision.reason,
    })),
    ...routed.dropped.map((candidate) => undecided(candidate, 'settled', 'dropped', 'its claim did not win')),
    ...routed.held.map((candidate) => undecided(candidate, 'held', null, 'the task failed or was cancelled')),
  ];
  await saveCandidateChanges(tx, changes, written.at, written.last);
  const candidates = new Map(
    [...decided.map(({ candidate }) => candidate), ...routed.dropped, ...routed.held].map((candidate) => [
      `${candidate.tenantId}/${candidate.candidateId}`,
      candidate,
    ]),
  );
  await insertAudit(
    tx,
    changes.flatMap((change) => {
      const candidate = candidates.get(`${change.tenantId}/${change.candidateId}`);
      return candidate === undefined ? [] : [toAudit(candidate, change)];
    }),
    written.at,
    written.last,
  );
  await insertSightings(tx, decided.flatMap(toSighting), written.last);
  await insertDisputes(tx, decided.flatMap(toDispute), written.last);
  await insertDerivations(
    tx,
    decided.flatMap((item) => toDerivations(item, written)),
  );
  return changes;
}

function nameOf({ tenantId, candidateId }: StoredCandidate) {
  return { tenantId, candidateId };
}

function undecided(
  candidate: StoredCandidate,
  state: 'held' | 'settled',
  outcome: 'dropped' | null,
  reason: string,
): CandidateChange {
  return { ...nameOf(candidate), state, outcome, knowledgeId: null, version: null, reason };
}

function toAudit(candidate: StoredCandidate, change: CandidateChange) {
  return {
    ...nameOf(candidate),
    decision: change.outcome ?? change.state,
    reason: change.reason,
    knowledgeId: change.knowledgeId,
    version: change.version,
    taskId: candidate.taskId,
    stepId: candidate.stepId,
    attempt: candidate.attempt,
    claimId: candidate.claimId,
    sourceMessageId: candidate.messageId,
  };
}

function toSighting({ candidate, decision }: Decided) {
  const { outcome, knowledgeId, version, body } = decision;
  if (outcome !== 'duplicate' || knowledgeId === null || version === null || body === null) return [];
  const { sourceType, sourceRef } = body;
  return [
    {
      ...nameOf(candidate),
      ...{ knowledgeId, version, sourceType, sourceRef },
      sourceMessageId: candidate.messageId,
      sourceTime: candidate.saidAt,
    },
  ];
}

function toDispute({ candidate, decision }: Decided) {
  const { outcome, knowledgeId, version, body, ruling, reason } = decision;
  if (outcome !== 'disputed' || knowledgeId === null || version === null || body === null) return [];
  return [
    {
      ...nameOf(candidate),
      ...{ knowledgeId, reason },
      incumbentVersion: version,
      // As it would be written, should it win: it may have been derived from what only few may read.
      challenger: { ...candidate.body, accessLevel: body.accessLevel },
      challengerSignature: body.signature,
      incumbentScore: ruling?.incumbentScore ?? null,
      challengerScore: ruling?.challengerScore ?? null,
      sourceMessageId: candidate.messageId,
    },
  ];
}

/** What a candidate that became a version rests on. */
export function toDerivations({ candidate, decision }: Decided, written: WrittenBatch) {
  const { knowledgeId, version, wave } = decision;
  if (knowledgeId === null || version === null || wave < 0) return [];
  return parentsOf(candidate).map((parent) => ({
    tenantId: candidate.tenantId,
    ...{ knowledgeId, version },
    upstreamId: parent.knowledgeId,
    upstreamVersion: parent.version,
    revision: written.firstRevision + wave,
  }));
}
