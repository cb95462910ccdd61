import type { Bus } from '@cleanslate/bus';
import { isAppError } from '@cleanslate/contracts';
import {
  type DueInput,
  type DueRing,
  findDueClaims,
  findDueInputs,
  findDueRings,
  type Tx,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { holdsDoorbell, reportsSettledUpTo } from './stream-state.ts';

const LIMIT = 500;
/** Doorbells the broker is asked for in one go: after a wipe there are many. */
const ASKED_AT_ONCE = 50;
/** A lease is ended at the latest this long after it was due, whatever the reports' backlog. */
const MAX_REPORT_WAIT_MS = 60_000;

/** Told what could not be applied and will be tried again; what else is due goes on. */
type OnFault = (error: unknown) => void;

/**
 * Finds due times and feeds them to the ledger, which decides again under the lock. Returns true while there may be
 * more. What an outage moves (queue times) waits until the outage, if there was one, is known: `inTime`.
 */
export async function sweep(ledger: Ledger, bus: Bus, inTime: boolean, onFault: OnFault): Promise<boolean> {
  const [found, rings] = await read(ledger, (tx) => Promise.all([findDueInputs(tx, LIMIT), findDueRings(tx, LIMIT)]));
  const inputs = inTime ? found : found.filter(({ input }) => input.kind !== 'queue_due');
  await applyDue(ledger, inputs, onFault);
  for (let i = 0; i < rings.length; i += ASKED_AT_ONCE)
    await settleAll(
      rings.slice(i, i + ASKED_AT_ONCE).map((ring) => checkRing(ledger, bus, ring)),
      onFault,
    );
  return inputs.length >= LIMIT || rings.length >= LIMIT;
}

/**
 * As `sweep`, for leases and attempt time-outs, which an outage moves: they wait for reports on their way, and
 * nothing else should wait for them.
 */
export async function sweepClaims(ledger: Ledger, bus: Bus, onFault: OnFault): Promise<boolean> {
  const claims = await read(ledger, (tx) => findDueClaims(tx, LIMIT));
  if (claims.length > 0 && (await reportsSettledUpTo(bus, MAX_REPORT_WAIT_MS))) await applyDue(ledger, claims, onFault);
  return claims.length >= LIMIT;
}

function read<T>(ledger: Ledger, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withTransaction(ledger.context.database, { ...LEDGER_SCOPE, readOnly: true }, work);
}

function applyDue(ledger: Ledger, due: readonly DueInput[], onFault: OnFault): Promise<void> {
  return settleAll(
    due.map((item) => ledger.apply({ kind: 'input', ...item })),
    onFault,
  );
}

/** One task that can't be moved must not hold up the others. Throws in an outage, which is everybody's. */
async function settleAll(work: readonly Promise<unknown>[], onFault: OnFault): Promise<void> {
  const results = await Promise.allSettled(work);
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  const outage = errors.find((error) => isAppError(error) && error.disposition === 'retryable');
  if (outage !== undefined) throw outage;
  // They are likely to have one cause; each would say it again with every sweep.
  if (errors[0] !== undefined) onFault(errors[0]);
}

/** A doorbell that is not known to be published will be; one that is gone from the stream is rung again. */
async function checkRing(ledger: Ledger, bus: Bus, due: DueRing): Promise<void> {
  const { tenantId, taskId, stepId, attempt, ring, role, doorbellSeq } = due;
  const ref = { epoch: ledger.context.epoch, tenantId, taskId, stepId, attempt };
  const gone = doorbellSeq !== null && !(await holdsDoorbell(bus, ref, { role, ring, doorbellSeq }));
  await ledger.apply({ kind: 'input', tenantId, taskId, input: { kind: 'ring_due', stepId, attempt, ring, gone } });
}
