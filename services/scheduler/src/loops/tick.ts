import type { Bus } from '@cleanslate/bus';
import { type Database, forgetSilentWorkers, tick, withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';

/** Ticks come each second; three in a row missing is an outage, and less where leases are shorter than that. */
export function toGapMs(leaseMs: number): number {
  return Math.min(3_000, Math.max(2_000, leaseMs / 2));
}

/** A round trip, not the connection's own idea of itself: a frozen broker looks connected for half a minute. */
const BROKER_MS = 1_000;
/** Workers announce their slots each second. */
const SILENT_WORKER_MS = 10_000;

/**
 * Writes the tick, moves leases after a gap, forgets workers that fell silent. No tick while the broker does not
 * answer: no worker can be heard then, so that time must show as a gap. Returns true where a tick was written.
 */
export async function keepTime(
  bus: Bus,
  database: Database,
  leaseMs: number,
  onGap: (gapMs: number) => void,
): Promise<boolean> {
  if (!(await answers(bus))) return false;
  const gap = await withTransaction(database, { ...LEDGER_SCOPE, relaxedDurability: true }, async (tx) => {
    const gapMs = await tick(tx, toGapMs(leaseMs), leaseMs);
    await forgetSilentWorkers(tx, SILENT_WORKER_MS);
    return gapMs;
  });
  if (gap !== 0) onGap(gap);
  return true;
}

function answers(bus: Bus): Promise<boolean> {
  if (!bus.connected) return Promise.resolve(false);
  return bus.flush(BROKER_MS).then(
    () => true,
    () => false,
  );
}
