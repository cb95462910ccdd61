import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@cleanslate/contracts';
import { openDatabase } from '@cleanslate/store';
import { findAdminUrl } from '../commands/migrate.ts';
import type { CommandContext } from '../context.ts';

const ANSWER_MS = 20_000;
const LOOK_MS = 200;

/**
 * Asks a scheduler, the one writer of the ledger, to reconcile now. Returns how much it repaired; throws
 * `DATABASE_UNAVAILABLE`, or `REQUEST_TIMEOUT` if none answers.
 */
export async function askForRepair(context: CommandContext): Promise<number> {
  const url = await findAdminUrl(context);
  await using database = openDatabase({ url, applicationName: 'slate-doctor', poolSize: 1 });
  const requestId = randomUUID();
  await database.pool.query('INSERT INTO ledger.repair_requests (request_id) VALUES ($1)', [requestId]);
  const until = performance.now() + ANSWER_MS;
  while (performance.now() < until) {
    const { rows } = await database.pool.query<{ repaired: number | null }>(
      'SELECT repaired FROM ledger.repair_requests WHERE request_id = $1 AND done_at IS NOT NULL',
      [requestId],
    );
    if (rows[0] !== undefined) return rows[0].repaired ?? 0;
    await sleep(LOOK_MS, undefined, { signal: context.signal });
  }
  throw new AppError(
    'REQUEST_TIMEOUT',
    `no scheduler repaired anything within ${ANSWER_MS / 1_000} s: is one ready? The request stands and is done once one is`,
  );
}
