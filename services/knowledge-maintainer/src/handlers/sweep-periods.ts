import { WriteDraft } from '@cleanslate/domain';
import {
  type Database,
  findTurned,
  insertAudit,
  insertKnowledgeOutbox,
  type KnowledgeOutboxRow,
  lockKnowledge,
  saveSweep,
  updateMarks,
  withTransaction,
} from '@cleanslate/store';
import { toFactChanged } from './events.ts';
import { writeBatch } from './write-batch.ts';

const SWEEP_LIMIT = 1_000;

/**
 * Looks at versions that began or ended by themselves: marks what rests on those no longer in force, clears what rests
 * on those in force again, and names those that expired. Returns what is to be published, and whether more is left.
 */
export async function sweepPeriods(
  database: Database,
): Promise<{ outbox: readonly KnowledgeOutboxRow[]; more: boolean }> {
  return await withTransaction(database, { role: 'cleanslate_maintainer' }, async (tx) => {
    const head = await lockKnowledge(tx);
    const { versions, until } = await findTurned(tx, head.now, SWEEP_LIMIT);
    await saveSweep(tx, until);
    if (versions.length === 0) return { outbox: [], more: false };
    const written = await writeBatch(tx, head, new WriteDraft([]), true);
    const facts = new Map(versions.map((version) => [`${version.tenantId}/${version.knowledgeId}`, version]));
    await updateMarks(tx, [...facts.values()], [], head.now, written.last);
    const ended = versions.filter(({ turn }) => turn === 'ended');
    const sourceMessageId = `sweep:${written.last}`;
    const expired = { decision: 'expired', reason: 'its valid range ended', sourceMessageId };
    await insertAudit(
      tx,
      ended.map(({ tenantId, knowledgeId, version }) => ({ tenantId, knowledgeId, version, ...expired })),
      written.at,
      written.last,
    );
    const events = ended.map(({ tenantId, knowledgeId, version, contentHash }) =>
      toFactChanged(
        { tenantId, at: written.at, causationId: sourceMessageId },
        { change: 'expired', knowledgeId, version, contentHash, revision: written.last, taskId: null, reason: null },
      ),
    );
    return { outbox: await insertKnowledgeOutbox(tx, events), more: until < head.now };
  });
}
