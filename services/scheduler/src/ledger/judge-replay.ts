import { AppError } from '@cleanslate/contracts';
import type { ReplayableLetter } from '@cleanslate/store/ledger';

export type ReplayWish = { readonly letterId: string; readonly force: boolean; readonly batch: string | null };

/**
 * Why a letter may not be replayed; null where it may. Whether its work still can be done is the ledger's
 * to say, under the task's lock.
 */
export function judgeReplay(
  letter: Pick<ReplayableLetter, 'status' | 'needs_human'> | undefined,
  { letterId, force, batch }: ReplayWish,
): AppError | null {
  if (letter === undefined)
    return new AppError('NOT_FOUND', `no dead letter "${letterId}" of this tenant: see "slate dlq list"`);
  if (letter.status === 'discarded') return new AppError('ALREADY_REPLAYED', 'the letter was discarded');
  if (letter.status !== 'open' && !force) {
    return new AppError(
      'ALREADY_REPLAYED',
      `the letter is ${letter.status}: it was replayed before; with force (slate dlq replay --force) it is done again`,
    );
  }
  if (letter.needs_human && batch !== null) {
    return new AppError(
      'NEEDS_HUMAN',
      'bulk replays of it failed three times: look at it ("slate dlq show"), fix the cause, then replay it by its id',
    );
  }
  return null;
}
