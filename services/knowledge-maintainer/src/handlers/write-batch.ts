import type { WriteDraft } from '@cleanslate/domain';
import {
  type BatchClock,
  carryOver,
  closeVersions,
  endArchives,
  insertFactLog,
  insertVersions,
  type KnowledgeHead,
  type Tx,
  takeRevisions,
} from '@cleanslate/store';

/** Where a batch ended up: `last` is the revision from which its writes are believed (the head's, where nothing was written). */
export type WrittenBatch = BatchClock & { readonly last: number };

/**
 * Writes a draft's versions with their log under fresh revisions; `forced` takes one even where no version changes (a dispute is knowledge too).
 * Needs the knowledge lock.
 */
export async function writeBatch(
  tx: Tx,
  head: KnowledgeHead,
  draft: WriteDraft,
  forced: boolean,
): Promise<WrittenBatch> {
  const count = Math.max(draft.waves, forced ? 1 : 0);
  if (count === 0) return { firstRevision: head.revision, at: head.now, last: head.revision };
  const taken = await takeRevisions(tx, count);
  const clock = { firstRevision: taken.first, at: taken.at };
  const { versions, closings } = draft;
  await closeVersions(tx, closings, clock);
  await insertVersions(tx, versions, clock);
  await carryOver(tx, versions, clock);
  await endArchives(tx, versions, clock);
  await insertFactLog(tx, versions, closings, clock);
  return { ...clock, last: taken.first + count - 1 };
}
