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

/** A candidate with its outcome. */
export type Outcome = { readonly candidate: StoredCandidate; readonly change: CandidateChange };

/** The outcomes of all candidates of a batch that were decided, held or dropped. */
export function toOutcomes(decided: readonly Decided[], routed: Pick<Routed, 'held' | 'dropped'>): Outcome[] {
  return [
    ...decided.map(({ candidate, decision: { outcome, knowledgeId, version, reason } }) => ({
      candidate,
      change: { ...nameOf(candidate), state: 'settled' as const, outcome, knowledgeId, version, reason },
    })),
    ...routed.dropped.map((candidate) => undecided(candidate, 'settled', 'dropped', 'its claim did not win')),
    ...routed.held.map((candidate) => undecided(candidate, 'held', null, 'the task failed or was cancelled')),
  ];
}

/**
 * Writes the outcome of each candidate, with its audit row, sighting, dispute and parents. No statement waits for
 * another's answer.
 */
export async function recordDecisions(
  tx: Tx,
  outcomes: readonly Outcome[],
  decided: readonly Decided[],
  written: WrittenBatch,
): Promise<void> {
  const changes = outcomes.map(({ change }) => change);
  await Promise.all([
    saveCandidateChanges(tx, changes, written.at, written.last),
    insertAudit(tx, outcomes.map(toAudit), written.at, written.last),
    insertSightings(tx, decided.flatMap(toSighting), written.last),
    insertDisputes(tx, decided.flatMap(toDispute), written.last),
    insertDerivations(
      tx,
      decided.flatMap((item) => toDerivations(item, written)),
    ),
  ]);
}

function nameOf({ tenantId, candidateId }: StoredCandidate) {
  return { tenantId, candidateId };
}

function undecided(
  candidate: StoredCandidate,
  state: 'held' | 'settled',
  outcome: 'dropped' | null,
  reason: string,
): Outcome {
  return { candidate, change: { ...nameOf(candidate), state, outcome, knowledgeId: null, version: null, reason } };
}

function toAudit({ candidate, change }: Outcome) {
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
      knowledgeId,
      version,
      sourceType,
      sourceRef,
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
      knowledgeId,
      reason,
      incumbentVersion: version,
      // As it would be written if it won: it may have been derived from what only few may read.
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
    knowledgeId,
    version,
    upstreamId: parent.knowledgeId,
    upstreamVersion: parent.version,
    revision: written.firstRevision + wave,
  }));
}
