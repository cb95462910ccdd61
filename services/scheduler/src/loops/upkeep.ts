import type { SchedulerOptions } from '../options.ts';
import type { RelayedLedger } from '../relayed-ledger.ts';
import type { Background } from './background.ts';
import { createErasure } from './erasure.ts';
import { createGauges } from './gauges.ts';
import { forgetLetters } from './letter-retention.ts';
import type { Loop } from './loop.ts';
import { createReconciler } from './reconciler.ts';
import { forget } from './retention.ts';
import { sweep, sweepClaims } from './sweeper.ts';
import { keepTime, toGapMs } from './tick.ts';

/** What looks after the ledger whoever writes to it: due times, repairs, retention, erasures, numbers. */
export function createUpkeep(
  options: SchedulerOptions,
  { loop, onError }: Background,
  { ledger, doorbells }: RelayedLedger,
): readonly Loop[] {
  const { bus, database, logger, metrics } = options;
  const repairs = metrics.counter('slate_repairs_total', 'Tasks and steps set going again by the reconciler', ['what']);
  return [
    loop('letter-retention', 60_000, () => forgetLetters(database, options.letterRetainDays)),
    loop('retention', 60_000, () => forget(database, options.retainDays)),
    loop('erasure', 1_000, createErasure({ bus, database })),
    ...createTimekeeping(options, { loop, onError }, ledger),
    loop(
      'reconciler',
      1_000,
      createReconciler({
        ledger,
        everyMs: options.reconcileMs,
        onFault: (error) => onError(error, 'reconciler'),
        onRepair: (repair) => {
          repairs.inc({ what: repair.what });
          logger.error({ ...repair }, 'a task that nothing moved was repaired: a fault led here');
        },
      }),
    ),
    loop('gauges', 5_000, createGauges({ bus, database, metrics, ledger, relay: doorbells })),
  ];
}

/**
 * What finds due times, and the tick before it: whoever has not written a tick of late may be coming out of an outage,
 * whose length is yet to be added to leases and queue times.
 */
function createTimekeeping(
  { bus, database, sweepMs, logger }: SchedulerOptions,
  { loop, onError }: Background,
  ledger: RelayedLedger['ledger'],
): readonly Loop[] {
  const { leaseMs } = ledger.context.options;
  let tickedAt = Number.NEGATIVE_INFINITY;
  const hasTicked = () => performance.now() - tickedAt < toGapMs(leaseMs);
  const onGap = (gapMs: number) =>
    logger.warn({ gapMs }, gapMs > 0 ? 'leases moved by an outage' : 'the clock of the database was set back');
  return [
    loop('sweeper', sweepMs, () => sweep(ledger, bus, hasTicked(), (error) => onError(error, 'sweeper'))),
    loop('leases', sweepMs, async () => {
      return hasTicked() && (await sweepClaims(ledger, bus, (error) => onError(error, 'leases')));
    }),
    loop('tick', 1_000, async () => {
      if (await keepTime(bus, database, leaseMs, onGap)) tickedAt = performance.now();
      return false;
    }),
  ];
}
