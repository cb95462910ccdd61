import { hasDueSchedules, withTransaction } from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { WorkflowRegistry } from '../ledger/workflow-registry.ts';

/**
 * Starts what the clock says. The look is a read: the ledger decides under its locks, and nothing is
 * written while nothing is due.
 */
export async function runSchedules(ledger: Ledger, registry: WorkflowRegistry): Promise<boolean> {
  const due = await withTransaction(ledger.context.database, { ...LEDGER_SCOPE, readOnly: true }, hasDueSchedules);
  if (due) await ledger.apply({ kind: 'schedules', registry });
  return false;
}
