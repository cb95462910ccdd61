import { type Database, forgetEndedLetters, withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';

const LIMIT = 500;

/** Letters that were closed or discarded are kept for so many days; open ones for as long as it takes. */
export async function forgetLetters(database: Database, retainDays: number): Promise<boolean> {
  const forgotten = await withTransaction(database, { ...LEDGER_SCOPE, relaxedDurability: true }, (tx) =>
    forgetEndedLetters(tx, retainDays, LIMIT),
  );
  return forgotten === LIMIT;
}
