import type { WriteDraft } from '@cleanslate/domain';
import {
  type BatchClock,
  carryOver,
  closeVersions,
  endArchives,
  insertFactLog,
  insertVersions,
  type KnowledgeHead,
  sent,
  type Tx,
  takeRevisions,
} from '@cleanslate/store';

/**
 * Where a batch ended up: `last` is the revision from which its writes are believed (the head's, if nothing was
 * written).
 */
export type WrittenBatch = BatchClock & { readonly last: number };

/**
 * Writes a draft's versions with their log under new revisions; `forced` uses one even if no version changes (a dispute
 * is knowledge too). Needs the knowledge lock.
 */
export async function writeBatch(
  tx: Tx,
  head: KnowledgeHead,
  draft: WriteDraft,
  forced: boolean,
): Promise<WrittenBatch> {
  const batch = await beginBatch(tx, head, draft, forced);
  await writeDraft(tx, draft, batch);
  return batch;
}

/** Reserves the revisions under which a draft will be written, as `writeBatch` does, without writing anything yet. */
export async function beginBatch(
  tx: Tx,
  head: KnowledgeHead,
  draft: WriteDraft,
  forced: boolean,
): Promise<WrittenBatch> {
  const count = Math.max(draft.waves, forced ? 1 : 0);
  if (count === 0) return { firstRevision: head.revision, at: head.now, last: head.revision };
  const taken = await takeRevisions(tx, count);
  return { firstRevision: taken.first, at: taken.at, last: taken.first + count - 1 };
}

/**
 * Writes a draft's versions with their log. No statement waits for another's answer: the log is prepared while the
 * server writes the versions.
 */
export async function writeDraft(tx: Tx, { versions, closings }: WriteDraft, clock: BatchClock): Promise<void> {
  await Promise.all([
    closeVersions(tx, closings, clock),
    insertVersions(tx, versions, clock),
    carryOver(tx, versions, clock),
    endArchives(tx, versions, clock),
    sent().then(() => insertFactLog(tx, versions, closings, clock)),
  ]);
}
