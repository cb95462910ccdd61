import {
  type Database,
  forgetCalls,
  forgetFinished,
  forgetOutbox,
  forgetSessions,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';

const LIMIT = 500;

/**
 * Lets finished tasks go once their retention is over, sessions that have expired, and model calls that no limit looks
 * at; a little at a time, beside the work. Returns true while there is more.
 */
export async function forget(database: Database, retainDays: number): Promise<boolean> {
  const forgotten = await withTransaction(database, LEDGER_SCOPE, (tx) => forgetFinished(tx, retainDays, LIMIT));
  const sessions = await withTransaction(database, LEDGER_SCOPE, (tx) => forgetSessions(tx, LIMIT));
  const calls = await withTransaction(database, LEDGER_SCOPE, (tx) => forgetCalls(tx, LIMIT));
  await withTransaction(database, LEDGER_SCOPE, forgetOutbox);
  return [sessions, calls, ...Object.values(forgotten)].some((count) => count >= LIMIT);
}
