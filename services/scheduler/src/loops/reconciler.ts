import { isAppError } from '@cleanslate/contracts';
import { isActive, isTerminal, settlementOf } from '@cleanslate/domain/ledger';
import {
  answerRepairRequests,
  type Database,
  findRepairRequests,
  findStuckTasks,
  findUnsettledTasks,
  insertRepairs,
  loadForUpdate,
  type Repair,
  repairDueTimes,
  repairSettlements,
  type TaskKey,
  upsertSettlements,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE, type LedgerContext } from '../ledger/apply-batch.ts';
import type { Ledger } from '../ledger/ledger.ts';

const LIMIT = 200;

export type ReconcilerOptions = {
  readonly ledger: Ledger;
  /** Pause between two looks where nobody asks for one. Milliseconds. */
  readonly everyMs: number;
  readonly onRepair: (repair: Repair) => void;
  /** Told what could not be decided and will be tried again; what else is stuck goes on. */
  readonly onFault: OnFault;
};
type OnFault = (error: unknown) => void;

/**
 * Conservation: finds what `ledger.unaccounted_tasks` and `ledger.unaccounted_candidates` list and derives what can be
 * derived, each repair on record. What the clock alone decides (overdue leases, doorbells, back-offs) is the sweep's;
 * what can't be derived stays in the metric.
 */
export function createReconciler({ ledger, everyMs, onRepair, onFault }: ReconcilerOptions): () => Promise<boolean> {
  let nextAt = performance.now() + everyMs;
  return async () => {
    const { context } = ledger;
    const { database } = context;
    const scope = { ...LEDGER_SCOPE, readOnly: true };
    const requests = await withTransaction(database, scope, findRepairRequests);
    if (requests.length === 0 && performance.now() < nextAt) return false;
    nextAt = performance.now() + everyMs;
    const repairs = [
      ...(await repairRows(context, database)),
      ...(await settleUnsettled(context, database, onFault)),
      ...(await decideStuck(ledger, database, onFault)),
    ];
    for (const repair of repairs) onRepair(repair);
    if (requests.length > 0)
      await withTransaction(database, LEDGER_SCOPE, (tx) => answerRepairRequests(tx, requests, repairs.length));
    return false;
  };
}

async function repairRows({ options }: LedgerContext, database: Database): Promise<readonly Repair[]> {
  return await withTransaction(database, LEDGER_SCOPE, async (tx) => [
    ...(await repairDueTimes(tx, options.leaseMs)),
    ...(await repairSettlements(tx)),
  ]);
}

/** The machine draws once more what follows from the rows that are there. */
async function decideStuck(ledger: Ledger, database: Database, onFault: OnFault): Promise<readonly Repair[]> {
  const scope = { ...LEDGER_SCOPE, readOnly: true };
  const stuck = await withTransaction(database, scope, (tx) => findStuckTasks(tx, LIMIT));
  const repairs = await repairEach(stuck, onFault, async (key): Promise<Repair | undefined> => {
    const { state } = await ledger.apply({ kind: 'input', ...key, input: { kind: 'reconcile' } });
    if (state === undefined) return undefined;
    const moving = state.steps.find((step) => isActive(step) && step.phase !== 'blocked');
    const over = isTerminal(state.task.state);
    if (moving === undefined && !over) return undefined;
    const detail = over ? `nothing was left to do: ${state.task.state}` : 'nothing moved it: its next step goes on';
    return { ...key, stepId: moving?.stepId ?? null, what: 'decided', detail };
  });
  if (repairs.length > 0) await withTransaction(database, LEDGER_SCOPE, (tx) => insertRepairs(tx, repairs));
  return repairs;
}

async function settleUnsettled(
  { epoch, plans }: LedgerContext,
  database: Database,
  onFault: OnFault,
): Promise<readonly Repair[]> {
  const scope = { ...LEDGER_SCOPE, readOnly: true };
  const unsettled = await withTransaction(database, scope, (tx) => findUnsettledTasks(tx, LIMIT));
  return await repairEach(unsettled, onFault, (key) =>
    withTransaction(database, LEDGER_SCOPE, async (tx) => {
      const [task] = (await loadForUpdate(tx, epoch, [key], plans)).aggregates.values();
      if (task === undefined) return undefined;
      await upsertSettlements(tx, [{ taskSeq: task.taskSeq, ...key, body: settlementOf(task.state) }]);
      const detail = 'candidates wait and the task had no settlement';
      const repair: Repair = { ...key, stepId: null, what: 'settled_again', detail };
      await insertRepairs(tx, [repair]);
      return repair;
    }),
  );
}

/** One task that can't be decided must not hold up the others. Throws in an outage, which is everybody's. */
async function repairEach(
  keys: readonly TaskKey[],
  onFault: OnFault,
  repair: (key: TaskKey) => Promise<Repair | undefined>,
): Promise<readonly Repair[]> {
  const repairs: Repair[] = [];
  const errors: unknown[] = [];
  for (const key of keys)
    try {
      const made = await repair(key);
      if (made !== undefined) repairs.push(made);
    } catch (error) {
      if (isAppError(error) && error.disposition === 'retryable') throw error;
      errors.push(error);
    }
  // They are likely to have one cause; each would say it again with every look.
  if (errors.length > 0) onFault(errors[0]);
  return repairs;
}
