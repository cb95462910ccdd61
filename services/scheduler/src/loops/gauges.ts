import type { Bus } from '@cleanslate/bus';
import { BUILT_IN_ROLES } from '@cleanslate/contracts';
import type { Metrics } from '@cleanslate/runtime/service';
import {
  countUnaccounted,
  countUnaccountedCandidates,
  type Database,
  type LedgerGauges,
  type RoleQueue,
  readGauges,
  readQueues,
  withTransaction,
} from '@cleanslate/store/ledger';
import { LEDGER_SCOPE } from '../ledger/apply-batch.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DoorbellRelay } from './doorbell-relay.ts';
import { createStreamGauges } from './stream-gauges.ts';

/**
 * Counting what nothing moves looks at every open task: behind 50,000 of them it takes half a second. It may
 * take one twentieth of the time.
 */
const COUNT_EVERY = 20;

/**
 * The ledger's own numbers and the streams' as metrics; every replica reads the same, so a
 * query takes the `max` over them.
 */
export function createGauges(parts: {
  readonly bus: Bus;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly ledger: Ledger;
  readonly relay: DoorbellRelay;
}): () => Promise<boolean> {
  const { bus, database, metrics, ledger, relay } = parts;
  const unaccounted = metrics.gauge('slate_tasks_unaccounted', 'Tasks that nothing will ever move; must be 0');
  const candidates = metrics.gauge(
    'slate_candidates_unaccounted',
    'Tasks whose candidates nothing will ever decide; must be 0',
  );
  const waiting = metrics.gauge('slate_ledger_waiting', 'Inputs that wait for the next ledger transaction');
  const doorbells = metrics.gauge(
    'slate_outbox_rows',
    'Committed commands (doorbells) that the broker has not taken for seconds',
  );
  const doorbellAge = metrics.gauge('slate_outbox_age_seconds', 'Age of the oldest of them');
  metrics.onScrape(() => {
    waiting.set(ledger.waiting);
    doorbells.set(relay.left.count);
    doorbellAge.set(relay.left.seconds);
  });
  const show = createLedgerGauges(metrics);
  const showQueues = createQueueGauges(metrics);
  const lookAtStreams = createStreamGauges(bus, metrics);
  let nextCount = 0;
  return async () => {
    await withTransaction(database, { ...LEDGER_SCOPE, readOnly: true }, async (tx) => {
      const began = performance.now();
      if (began >= nextCount) {
        unaccounted.set(await countUnaccounted(tx));
        candidates.set(await countUnaccountedCandidates(tx));
        nextCount = performance.now() + COUNT_EVERY * (performance.now() - began);
      }
      show(await readGauges(tx));
      showQueues(await readQueues(tx));
    });
    await lookAtStreams();
    return false;
  };
}

function createLedgerGauges(metrics: Metrics): (gauges: LedgerGauges) => void {
  const unpublished = metrics.gauge('slate_events_unpublished', 'Committed events not yet published');
  const openLetters = metrics.gauge('slate_dead_letters_open', 'Dead letters nobody has dealt with');
  const parked = metrics.gauge('slate_dead_letters_parked', 'Open dead letters that bulk replays leave to a person');
  return (gauges) => {
    unpublished.set(gauges.unpublishedEvents);
    openLetters.set(gauges.openLetters);
    parked.set(gauges.parkedLetters);
  };
}

function createQueueGauges(metrics: Metrics): (queues: readonly RoleQueue[]) => void {
  const ready = metrics.gauge('slate_steps_ready', 'Steps that wait for a slot; autoscaling follows it', ['role']);
  const inFlight = metrics.gauge('slate_steps_in_flight', 'Steps rung for or running', ['role']);
  const oldest = metrics.gauge('slate_steps_ready_age_seconds', 'How long the oldest ready step has waited', ['role']);
  const known = new Set<string>(BUILT_IN_ROLES);
  return (queues) => {
    // A role that was here once stays, at 0: an autoscaler can't tell an absent series from a broken scrape.
    for (const role of known) for (const gauge of [ready, inFlight, oldest]) gauge.set({ role }, 0);
    for (const queue of queues) {
      const { role } = queue;
      known.add(role);
      ready.set({ role }, queue.ready);
      inFlight.set({ role }, queue.inFlight);
      oldest.set({ role }, queue.oldestSeconds);
    }
  };
}
