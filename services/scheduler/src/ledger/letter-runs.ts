import { findLetterForUpdate, markReplayed, saveReply, type Tx } from '@cleanslate/store/ledger';
import { findReplayReply } from './apply-replays.ts';
import type { InputItem, LedgerItem, LedgerResult, LetterRun, SubmitItem } from './items.ts';
import { judgeReplay } from './judge-replay.ts';

type Early = Pick<LedgerResult, 'refused' | 'reply'>;
type LetterItem = (SubmitItem | InputItem) & { readonly letter: LetterRun };

/**
 * Messages that are replays of dead letters: their letters are locked, and those that may not run are answered at once.
 */
export async function holdLetters(tx: Tx, items: readonly LedgerItem[]): Promise<ReadonlyMap<LedgerItem, Early>> {
  const held = new Map<LedgerItem, Early>();
  const seen = new Set<string>();
  for (const item of items.filter(isLetterItem)) {
    const { letter, tenantId } = item;
    const row = await findLetterForUpdate(tx, tenantId, letter.letterId);
    const reply = await findReplayReply(tx, { tenantId, requestId: letter.requestId });
    // Twice in one batch: the second one finds the letter as the first one leaves it.
    const status = seen.has(letter.letterId) ? 'replaying' : row?.status;
    const error = judgeReplay(row && { ...row, status: status ?? row.status }, letter);
    if (reply !== undefined) held.set(item, { refused: null, reply });
    else if (error !== null) held.set(item, { refused: error.toBody() });
    else seen.add(letter.letterId);
  }
  return held;
}

/** The same transaction that took (or refused) the message closes its letter (or keeps it open). */
export async function settleLetters(
  tx: Tx,
  items: readonly LedgerItem[],
  held: ReadonlyMap<LedgerItem, Early>,
  results: readonly LedgerResult[],
): Promise<readonly LedgerResult[]> {
  if (!items.some(isLetterItem)) return results;
  const settled: LedgerResult[] = [];
  for (const [i, result] of results.entries()) {
    const item = items[i];
    settled.push(item === undefined || held.has(item) || !isLetterItem(item) ? result : await settle(tx, item, result));
  }
  return settled;
}

async function settle(tx: Tx, item: LetterItem, result: LedgerResult): Promise<LedgerResult> {
  const { letterId, batch, edited, requestId } = item.letter;
  const status = result.refused === null ? 'closed' : 'open';
  await markReplayed(tx, letterId, { status, batch, edited, error: result.refused });
  if (result.refused !== null) return result;
  const reply = { letterId, taskId: result.state?.task.taskId ?? item.taskId, attempt: null };
  await saveReply(tx, item.tenantId, requestId, reply);
  return { ...result, reply };
}

function isLetterItem(item: LedgerItem): item is LetterItem {
  return (item.kind === 'submit' || item.kind === 'input') && item.letter !== undefined;
}
