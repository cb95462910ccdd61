import { mergeSettlement, type ScreenSettings } from '@cleanslate/domain';
import {
  type Database,
  findSettlements,
  findTaskCandidates,
  insertKnowledgeOutbox,
  type KnowledgeOutboxRow,
  lockKnowledge,
  type NewCandidate,
  type StoredCandidate,
  saveSettlements,
  sent,
  type TaskSettlement,
  type Tx,
  withTransaction,
} from '@cleanslate/store';
import { cascade } from './cascade.ts';
import { confirmTasks } from './confirm-tasks.ts';
import { decideReleased } from './decide-released.ts';
import { storeCandidates } from './keep-out.ts';
import { recordDecisions, toDerivations, toOutcomes } from './record-decisions.ts';
import { findNewAnswers, recordUsage, type SaidUse } from './record-usage.ts';
import { routeCandidates, taskKey } from './route-candidates.ts';
import { beginBatch, writeDraft } from './write-batch.ts';

/** What was drained from the blackboard and the commands. */
export type MaintainerBatch = {
  readonly candidates: readonly NewCandidate[];
  readonly settlements: readonly (TaskSettlement & SaidUse)[];
  /** Trace context of the latest message, by task; events continue it. */
  readonly traces?: ReadonlyMap<string, string>;
};

export type SettledBatch = { readonly outbox: readonly KnowledgeOutboxRow[]; readonly outcomes: readonly string[] };

/**
 * Stores candidates and settlements and carries out what follows, in one transaction: candidates without a settlement
 * wait, those of winning claims are decided, others are dropped. Everything is idempotent: a repeated candidate changes
 * nothing, a repeated settlement is confirmed again. Returns what is to be published after the commit, and the outcomes
 * for the metrics.
 */
export async function settleBatch(
  database: Database,
  batch: MaintainerBatch,
  settings: ScreenSettings,
): Promise<SettledBatch> {
  return await withTransaction(database, { role: 'cleanslate_maintainer' }, async (tx) => {
    const head = await lockKnowledge(tx);
    const fresh = await storeCandidates(tx, batch.candidates, head);
    const settlements = await storeSettlements(tx, batch);
    if (settlements.size === 0) return { outbox: [], outcomes: [] };
    const stored = await findTaskCandidates(tx, [...settlements.values()]);
    const routed = routeCandidates(stored, settlements);
    const { draft, decided } = await decideReleased(tx, routed.released, settings, head.now);
    const answers = await findNewAnswers(tx, batch.settlements);
    const forced = answers.length > 0 || decided.some(({ decision }) => decision.outcome === 'disputed');
    const written = await beginBatch(tx, head, draft, forced);
    const changed = toOutcomes(decided, routed);
    const changes = changed.map(({ change }) => change);
    const freshIds = new Set(fresh.map((candidate) => `${candidate.tenantId}/${candidate.candidateId}`));
    const causes = toCauses(batch, stored, freshIds, settlements);
    const traces = batch.traces ?? new Map();
    // The server writes one part while the next is prepared.
    const [, , outbox] = await Promise.all([
      writeDraft(tx, draft, written),
      sent().then(() => recordDecisions(tx, changed, decided, written)),
      sent().then(() =>
        insertKnowledgeOutbox(tx, confirmTasks({ causes, stored, decided, changes, settlements, written, traces })),
      ),
    ]);
    await cascade(
      tx,
      draft,
      decided.flatMap((item) => toDerivations(item, written)),
      written,
    );
    await recordUsage(tx, batch.settlements, answers, written);
    return { outbox, outcomes: changes.map(({ outcome, state }) => outcome ?? state) };
  });
}

/** The settlements that govern this batch's tasks, by task; new ones are merged and stored. */
async function storeSettlements(tx: Tx, batch: MaintainerBatch): Promise<Map<string, TaskSettlement>> {
  const found = await findSettlements(tx, [...batch.candidates, ...batch.settlements]);
  const settlements = new Map(found.map((settlement) => [taskKey(settlement), settlement]));
  const changed = new Map<string, TaskSettlement>();
  for (const said of batch.settlements) {
    const merged = mergeSettlement(settlements.get(taskKey(said)), said);
    if (merged !== said) continue;
    settlements.set(taskKey(said), said);
    changed.set(taskKey(said), said);
  }
  await saveSettlements(tx, [...changed.values()]);
  return settlements;
}

/** Which tasks are confirmed, and in answer to what: a settle command, or candidates that came after it. */
function toCauses(
  batch: MaintainerBatch,
  stored: readonly StoredCandidate[],
  freshIds: ReadonlySet<string>,
  settlements: ReadonlyMap<string, TaskSettlement>,
): Map<string, string> {
  const causes = new Map<string, string>();
  for (const candidate of stored) {
    if (!freshIds.has(`${candidate.tenantId}/${candidate.candidateId}`)) continue;
    if (settlements.has(taskKey(candidate))) causes.set(taskKey(candidate), candidate.messageId);
  }
  for (const settlement of batch.settlements) causes.set(taskKey(settlement), settlement.messageId);
  return causes;
}
