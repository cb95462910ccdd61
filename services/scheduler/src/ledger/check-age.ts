import type { Bus } from '@cleanslate/bus';
import { AppError } from '@cleanslate/contracts';
import { type Database, readHead, withTransaction } from '@cleanslate/store/ledger';
import { findLastPosition } from '../loops/stream-state.ts';
import { LEDGER_SCOPE } from './apply-batch.ts';

/**
 * Throws `LEDGER_BEHIND_STREAM` where EVENTS tells of more than the ledger knows: the database was restored from a
 * backup, or its standby took over without the last commits, and going on would give positions and fences out a second
 * time; `BROKER_UNAVAILABLE` where the broker can't say.
 */
export async function checkLedgerAge(bus: Bus, database: Database): Promise<void> {
  // The stream first: what is published was numbered in the ledger before.
  const last = await findLastPosition(bus);
  if (last === undefined) return;
  const head = await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, readHead);
  if (last.epoch < head.epoch || (last.epoch === head.epoch && last.position <= head.position)) return;
  const text = (at: { epoch: number; position: number }) => `epoch ${at.epoch}, position ${at.position}`;
  throw new AppError(
    'LEDGER_BEHIND_STREAM',
    `the stream EVENTS is at ${text(last)}, the ledger at ${text(head)}: the database looks like a restored backup, or a standby that lacks the last commits. Stop all services and run \`slate doctor --after-restore\``,
    { details: { stream: last, ledger: head } },
  );
}
