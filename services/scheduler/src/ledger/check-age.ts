import type { Bus } from '@cleanslate/bus';
import { AppError, isAppError } from '@cleanslate/contracts';
import { type Database, readHead, withTransaction } from '@cleanslate/store/ledger';
import { findLastPosition } from '../loops/stream-state.ts';
import { LEDGER_SCOPE } from './apply-batch.ts';

const AGAIN_MS = 500;

/**
 * Throws `LEDGER_BEHIND_STREAM` where EVENTS tells of more than the ledger knows: the database was restored from a backup, and going on would give positions
 * and fences out a second time. Waits as long as the broker can't say.
 */
export async function checkLedgerAge(bus: Bus, database: Database, onWait: (error: unknown) => void): Promise<void> {
  // The stream first: what is published was numbered in the ledger before.
  const last = await untilBrokerAnswers(() => findLastPosition(bus), onWait);
  if (last === undefined) return;
  const head = await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, readHead);
  if (last.epoch < head.epoch || (last.epoch === head.epoch && last.position <= head.position)) return;
  const text = (at: { epoch: number; position: number }) => `epoch ${at.epoch}, position ${at.position}`;
  throw new AppError(
    'LEDGER_BEHIND_STREAM',
    `the stream EVENTS is at ${text(last)}, the ledger at ${text(head)}: the database looks like a restored backup. Stop all services and run \`slate doctor --after-restore\``,
    { details: { stream: last, ledger: head } },
  );
}

/** Asks again for as long as the broker is away. */
export async function untilBrokerAnswers<T>(ask: () => Promise<T>, onWait: (error: unknown) => void): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAppError(error) || !['BROKER_UNAVAILABLE', 'REQUEST_TIMEOUT'].includes(error.code)) throw error;
      onWait(error);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
