import { isActive, isTerminal, settlementOf } from '@cleanslate/domain';
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
  type Tx,
  upsertSettlements,
  withTransaction,
} from '@cleanslate/store';
import { LEDGER_SCOPE, type LedgerContext } from '../ledger/apply-batch.ts';
import type { Ledger } from '../ledger/ledger.ts';

const LIMIT = 200;

export type ReconcilerOptions = {
  readonly ledger: Ledger;
  /** Pause between two looks where nobody asks for one. Milliseconds. */
  readonly everyMs: number;
  readonly onRepair: (repair: Repair) => void;
};

/**
 * Conservation: finds what `ledger.unaccounted_tasks` and `ledger.unaccounted_candidates` list and derives what can be derived, each repair on record. What
 * the clock alone decides (overdue leases, doorbells, back-offs) is the sweep's; what can't be derived stays in the metric.
 */
export function createReconciler({ ledger, everyMs, onRepair }: ReconcilerOptions): () => Promise<boolean> {
  let nextAt = performance.now() + everyMs;
  return async () => {
    const { context } = ledger;
    const { database } = context;
    const scope = { ...LEDGER_SCOPE, readOnly: true };
    const requests = await withTransaction(database, scope, findRepairRequests);
    if (requests.length === 0 && performance.now() < nextAt) return false;
    nextAt = performance.now() + everyMs;
    const repairs = [...(await repairRows(context, database)), ...(await decideStuck(ledger, database))];
    for (const repair of repairs) onRepair(repair);
    if (requests.length > 0)
      await withTransaction(database, LEDGER_SCOPE, (tx) => answerRepairRequests(tx, requests, repairs.length));
    return false;
  };
}

async function repairRows(context: LedgerContext, database: Database): Promise<readonly Repair[]> {
  return await withTransaction(database, LEDGER_SCOPE, async (tx) => [
    ...(await repairDueTimes(tx, context.options.leaseMs)),
    ...(await repairSettlements(tx)),
    ...(await deriveSettlements(tx, context)),
  ]);
}

/** The machine draws once more what follows from the rows that are there. */
async function decideStuck(ledger: Ledger, database: Database): Promise<readonly Repair[]> {
  const scope = { ...LEDGER_SCOPE, readOnly: true };
  const stuck = await withTransaction(database, scope, (tx) => findStuckTasks(tx, LIMIT));
  const repairs: Repair[] = [];
  for (const key of stuck) {
    const { state } = await ledger.apply({ kind: 'input', ...key, input: { kind: 'reconcile' } });
    if (state === undefined) continue;
    const moving = state.steps.find((step) => isActive(step) && step.phase !== 'blocked');
    const over = isTerminal(state.task.state);
    if (moving === undefined && !over) continue;
    const detail = over ? `nothing was left to do: ${state.task.state}` : 'nothing moved it: its next step goes on';
    repairs.push({ ...key, stepId: moving?.stepId ?? null, what: 'decided', detail });
  }
  if (repairs.length > 0) await withTransaction(database, LEDGER_SCOPE, (tx) => insertRepairs(tx, repairs));
  return repairs;
}

async function deriveSettlements(tx: Tx, { epoch, plans }: LedgerContext): Promise<readonly Repair[]> {
  const keys = await findUnsettledTasks(tx, LIMIT);
  if (keys.length === 0) return [];
  const { aggregates } = await loadForUpdate(tx, epoch, keys, plans);
  const derived = [...aggregates.values()].map(({ taskSeq, state }) => {
    const { tenantId, taskId } = state.task;
    return { taskSeq, tenantId, taskId, body: settlementOf(state) };
  });
  await upsertSettlements(tx, derived);
  const detail = 'candidates wait and the task had no settlement';
  const repairs = derived.map(
    ({ tenantId, taskId }): Repair => ({ tenantId, taskId, stepId: null, what: 'settled_again', detail }),
  );
  await insertRepairs(tx, repairs);
  return repairs;
}
