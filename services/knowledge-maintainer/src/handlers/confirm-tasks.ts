import type { CandidateChange, KnowledgeMessage, StoredCandidate, TaskSettlement } from '@cleanslate/store';
import type { Decided } from './decide-released.ts';
import { toCandidatesSettled, toFactChanged } from './events.ts';
import { taskKey } from './route-candidates.ts';
import type { WrittenBatch } from './write-batch.ts';

export type Confirmation = {
  /** Tasks to confirm, `tenant/task` → id of the message being answered. */
  readonly causes: ReadonlyMap<string, string>;
  /** All candidates of the tasks as they were before this batch. */
  readonly stored: readonly StoredCandidate[];
  readonly decided: readonly Decided[];
  readonly changes: readonly CandidateChange[];
  readonly settlements: ReadonlyMap<string, TaskSettlement>;
  readonly written: WrittenBatch;
  /** Trace context by task. */
  readonly traces: ReadonlyMap<string, string>;
};

/**
 * The events of a batch: each decision about a known fact, then one confirmation for each task that was asked about.
 */
export function confirmTasks(confirmation: Confirmation): KnowledgeMessage[] {
  const { decided, written, traces } = confirmation;
  return [...decided.flatMap((item) => toFactEvent(item, written, traces)), ...toSettledEvents(confirmation)];
}

function toFactEvent(
  { candidate, decision }: Decided,
  written: WrittenBatch,
  traces: ReadonlyMap<string, string>,
): KnowledgeMessage[] {
  const { outcome, knowledgeId, version, body, wave, reason } = decision;
  if (knowledgeId === null || outcome === 'dropped') return [];
  const { tenantId, messageId: causationId } = candidate;
  const cause = { tenantId, at: written.at, causationId, traceparent: traces.get(taskKey(candidate)) };
  const data = {
    change: outcome,
    knowledgeId,
    version,
    revision: wave < 0 ? written.last : written.firstRevision + wave,
    contentHash: body?.contentHash ?? null,
    taskId: candidate.taskId,
    reason: reason.slice(0, 500),
  };
  return [toFactChanged(cause, data, candidate.candidateId)];
}

function toSettledEvents({ causes, stored, changes, settlements, written, traces }: Confirmation): KnowledgeMessage[] {
  const changed = new Map(changes.map((change) => [`${change.tenantId}/${change.candidateId}`, change]));
  const byTask = Map.groupBy(stored, ({ tenantId, taskId }) => `${tenantId}/${taskId}`);
  return [...causes].flatMap(([key, causationId]) => {
    const settlement = settlements.get(key);
    if (settlement === undefined) return [];
    const candidates = byTask.get(key) ?? [];
    const outcomes = candidates.flatMap((candidate) => {
      const now = changed.get(`${candidate.tenantId}/${candidate.candidateId}`) ?? candidate;
      if (now.outcome === null) return [];
      return [
        {
          candidateId: candidate.candidateId,
          outcome: now.outcome,
          knowledgeId: now.knowledgeId,
          version: now.version,
        },
      ];
    });
    const seen = new Set(candidates.map(({ candidateId }) => candidateId));
    const listed = settlement.claims.flatMap((claim) => claim.candidates);
    const missing = [...new Set(listed)].filter((candidateId) => !seen.has(candidateId));
    const { taskId, tenantId } = settlement;
    const cause = { tenantId, at: written.at, causationId, traceparent: traces.get(key) };
    return [toCandidatesSettled(cause, { taskId, revision: written.last, outcomes, missing })];
  });
}
