import type { Bus } from '@cleanslate/bus';
import { checkBus, type ReadyChecks } from '@cleanslate/runtime';
import { type Database, withTransaction } from '@cleanslate/store';

/** Bus connected and subscribed; the database answers under the gateway's role and has the ledger. */
export function readyChecks(bus: Bus, database: Database): ReadyChecks {
  return {
    bus: () => checkBus(bus),
    database: async () => {
      await withTransaction(database, { role: 'cleanslate_gateway', readOnly: true }, (tx) =>
        tx.query('SELECT epoch FROM ledger.meta'),
      );
      return undefined;
    },
  };
}
