import type { Candidate, FactImport } from '@cleanslate/contracts';
import { ERASED, type Eraser, toContent, toImportedBody, toRedactedHashes, toTombstone } from '@cleanslate/domain';
import {
  type DisputeResolution,
  eraseDisputes,
  eraseNotes,
  findSayingDisputes,
  findSayingNotes,
  type RedactableDispute,
  resolveDispute,
  type SayingNote,
  type Tx,
} from '@cleanslate/store';
import type { WrittenBatch } from './write-batch.ts';

/** What contains redacted words although it belongs to other facts, which keep theirs. */
export type Copies = {
  readonly disputes: readonly RedactableDispute[];
  readonly notes: readonly (SayingNote & { readonly erased: string })[];
};

/** Challengers of any fact that contain one of the phrases, and notes of people and rules that do. */
export async function findCopies(
  tx: Tx,
  tenantId: string,
  phrases: readonly string[],
  eraser: Eraser,
): Promise<Copies> {
  const disputes = await findSayingDisputes(tx, tenantId, phrases);
  const notes = await findSayingNotes(tx, tenantId, phrases);
  return {
    disputes: disputes.filter(({ said }) => eraser.json(said) !== said),
    notes: notes
      .map((note) => ({ ...note, erased: eraser.text(note.text) }))
      .filter((note) => note.erased !== note.text),
  };
}

/**
 * Erases the words from copies. A challenger that contained them is withdrawn: its incumbent stays. Needs the knowledge
 * lock.
 */
export async function eraseCopies(
  tx: Tx,
  tenantId: string,
  { disputes, notes }: Copies,
  key: Uint8Array,
  written: WrittenBatch,
): Promise<void> {
  await eraseChallengers(tx, tenantId, disputes, 'incumbent', key, written);
  await eraseNotes(tx, tenantId, notes);
}

/**
 * Settles these disputes if they are open, and erases their challengers' words. Needs the knowledge lock, and a
 * revision later than those they were opened in.
 */
export async function eraseChallengers(
  tx: Tx,
  tenantId: string,
  disputes: readonly RedactableDispute[],
  resolution: DisputeResolution['resolution'],
  key: Uint8Array,
  { at, last }: WrittenBatch,
): Promise<void> {
  for (const { disputeId, open } of disputes)
    if (open) await resolveDispute(tx, disputeId, { resolution, by: 'redaction', reason: null }, at, last);
  await eraseDisputes(
    tx,
    tenantId,
    disputes.map(({ disputeId, challenger }) => ({ disputeId, ...toErased(challenger, key) })),
  );
}

function toErased(
  challenger: RedactableDispute['challenger'],
  key: Uint8Array,
): { readonly challenger: Candidate; readonly signature: string } {
  if (challenger === null) return { challenger: toTombstone(null), signature: '' };
  if (!('periods' in challenger)) {
    const [, signature = ''] = toRedactedHashes(key, toContent(challenger));
    return { challenger: toTombstone(challenger), signature };
  }
  const { knowledgeId, knowledgeType } = challenger;
  const said = { knowledgeId, knowledgeType, statement: ERASED, assertion: null, sourceRef: 'redacted' };
  const judged = { sourceType: 'external_source', confidence: 1, importance: 1 } as const;
  return { challenger: { ...said, ...judged, derivedFrom: [], tags: [] }, signature: '' };
}

/**
 * What a challenger would say if it came back: each period of an imported one. Of one that can't be read, nothing is
 * known.
 */
export function toContents(challenger: Candidate | FactImport | null): ReturnType<typeof toContent>[] {
  if (challenger === null) return [];
  if (!('periods' in challenger)) return [toContent(challenger)];
  const source = { sourceRef: '', sourceType: 'human_confirmed', messageId: '', saidAt: 0 } as const;
  return challenger.periods.map((period) => {
    const { statement, signature } = toImportedBody(challenger, period, source);
    return { statement, signature };
  });
}
