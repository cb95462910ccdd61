import type { WriteDraft } from '@cleanslate/domain';
import { type SupportName, type Tx, updateMarks } from '@cleanslate/store';
import type { WrittenBatch } from './write-batch.ts';

/** Marks what rests on versions that no longer stand, once a batch with its parents is written. */
export async function cascade(
  tx: Tx,
  draft: WriteDraft,
  derived: readonly SupportName[],
  written: WrittenBatch,
): Promise<void> {
  const { versions, closings } = draft;
  // A first version casts no doubt: whatever named it before it existed rests on what now stands.
  const later = versions.filter(({ version }) => version > 1);
  const changed = new Map([...later, ...closings].map((fact) => [`${fact.tenantId}/${fact.knowledgeId}`, fact]));
  // The remainder of a closed version kept its parents, and so their marks.
  const remainders = versions.filter(({ remainderOf }) => remainderOf !== null);
  const rests = [...derived, ...remainders];
  if (changed.size + rests.length > 0) await updateMarks(tx, [...changed.values()], rests, written.at, written.last);
}
