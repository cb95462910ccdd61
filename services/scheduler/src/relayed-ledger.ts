import { Publisher } from '@cleanslate/bus';
import { MACHINE_DEFAULTS } from '@cleanslate/domain/ledger';
import type { AgeWatch } from '@cleanslate/runtime/service';
import { PlanCache, StateCache } from '@cleanslate/store/ledger';
import { Ledger } from './ledger/ledger.ts';
import { createLedgerTelemetry } from './ledger/ledger-telemetry.ts';
import type { Background } from './loops/background.ts';
import { DoorbellRelay } from './loops/doorbell-relay.ts';
import { EventRelay } from './loops/event-relay.ts';
import { relayLetters } from './loops/letter-relay.ts';
import type { Loop } from './loops/loop.ts';
import { relaySettlements } from './loops/settlement-relay.ts';
import type { SchedulerOptions } from './options.ts';

/** The ledger with what sends on what it commits. */
export type RelayedLedger = {
  readonly ledger: Ledger;
  readonly publisher: Publisher;
  readonly doorbells: DoorbellRelay;
  /** Dispatches ready steps as slots come free. */
  readonly admission: Loop;
  readonly events: Loop;
  readonly settlements: Loop;
  /** Replayed messages that go back into their stream. */
  readonly letters: Loop;
};

/** Longest an admission or event relay waits without being woken: another scheduler's commit wakes nobody here. */
const UNWOKEN_MS = 250;

/** Nothing of it runs yet. A commit wakes loops and loops write to the ledger, so they are made together. */
export function createRelayedLedger(
  options: SchedulerOptions,
  { background, age, epoch }: { readonly background: Background; readonly age: AgeWatch; readonly epoch: number },
): RelayedLedger {
  const { bus, database, logger, metrics, tracer } = options;
  const { loop, onError } = background;
  const publisher = new Publisher(bus, {
    window: 200,
    onRetry: (stream, reason) => logger.warn({ stream, reason }, 'publish again'),
  });
  const machine = { ...MACHINE_DEFAULTS, ...options.machine };
  const context = { database, plans: new PlanCache(), states: new StateCache(), epoch, options: machine, tracer };
  // Before the first query on it: a new connection may be to a server that lost what another had committed.
  database.pool.on('connect', () => {
    context.states.clear();
    age.doubt();
  });
  const doorbells = new DoorbellRelay({
    context,
    publisher,
    onError,
    isConnected: () => bus.connected,
    onUnsendable: async ({ state, stepId, attempt }, error) => {
      const { tenantId, taskId } = state.task;
      const input = { kind: 'unsendable', stepId, attempt, message: error.message } as const;
      await ledger.apply({ kind: 'input', tenantId, taskId, input });
    },
  });
  const eventRelay = new EventRelay({ database, publisher, epoch });
  const parts = { bus, relay: doorbells, telemetry: createLedgerTelemetry(metrics, tracer) };
  const ledger: Ledger = new Ledger(context, parts, {
    admission: () => admission.wake(),
    events: (committed) => {
      eventRelay.keep(committed);
      events.wake();
    },
    settlements: () => settlements.wake(),
  });
  const admission = loop('admission', UNWOKEN_MS, async () => {
    await ledger.apply({ kind: 'admit' });
    return false;
  });
  const events = loop('events', UNWOKEN_MS, async () => {
    // Before anything is published under a position that the stream may have had already.
    await age.check();
    return await eventRelay.run();
  });
  const settlements = loop('settlements', 1_000, () => relaySettlements(database, publisher, epoch));
  const letters = loop('letters', 1_000, () => relayLetters({ bus, publisher, database }));
  return { ledger, publisher, doorbells, admission, events, settlements, letters };
}
