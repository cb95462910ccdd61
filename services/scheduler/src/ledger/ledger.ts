import type { Bus } from '@cleanslate/bus';
import { isAppError } from '@cleanslate/contracts';
import { keyOf, type NumberedEvent, sent } from '@cleanslate/store/ledger';
import type { DoorbellRelay } from '../loops/doorbell-relay.ts';
import { type AppliedBatch, applyBatch, type LedgerContext } from './apply-batch.ts';
import { Batcher, type Lane } from './batcher.ts';
import type { LedgerItem, LedgerResult } from './items.ts';
import type { LedgerTelemetry } from './ledger-telemetry.ts';
import { ALONE, type Turn } from './turn.ts';

/** Items of one transaction. Beyond some hundreds a batch gains nothing and only delays its first item. */
const MAX_BATCH = 300;
/**
 * Of them, submits from the queue: a flood of those must not make claims and reports wait for long. (Measured: 300 new
 * tasks take three times as long as 100.)
 */
const MAX_SUBMITS = 100;
/**
 * From so many waiting items on, the next transaction gets ready while the one before it is written. Fewer are better
 * off in one batch with what comes meanwhile.
 */
const MIN_OVERLAP = 150;

/** What is woken when a commit leaves something to do. */
export type Wakers = {
  readonly admission: () => void;
  readonly events: (committed: readonly NumberedEvent[]) => void;
  readonly settlements: () => void;
};

const encoder = new TextEncoder();

/**
 * The one way into the ledger: items are batched, applied in one transaction, and what they
 * committed is sent on at once.
 */
export class Ledger {
  readonly context: LedgerContext;
  readonly #bus: Bus;
  readonly #relay: DoorbellRelay;
  readonly #wakers: Wakers;
  readonly #telemetry: LedgerTelemetry;
  readonly #batcher: Batcher<LedgerItem, LedgerResult>;

  constructor(
    context: LedgerContext,
    parts: { readonly bus: Bus; readonly relay: DoorbellRelay; readonly telemetry: LedgerTelemetry },
    wakers: Wakers,
  ) {
    this.context = context;
    this.#bus = parts.bus;
    this.#relay = parts.relay;
    this.#telemetry = parts.telemetry;
    this.#wakers = wakers;
    this.#batcher = new Batcher((items, turn) => this.#commit(items, turn), {
      maxBatch: MAX_BATCH,
      maxBulk: MAX_SUBMITS,
      overlap: { atLeast: MIN_OVERLAP, keyOf: toBatchKey },
    });
  }

  get waiting(): number {
    return this.#batcher.waiting;
  }

  /** Resolves after commit. Throws `DATABASE_UNAVAILABLE` in an outage (nothing happened), or the item's own error. */
  apply(item: LedgerItem, lane: Lane = 'prompt'): Promise<LedgerResult> {
    return this.#batcher.add(item, lane);
  }

  /** As `apply`, for items that belong together: one right behind the other, with a result or an error for each. */
  applyAll(items: readonly LedgerItem[]): Promise<readonly (LedgerResult | Error)[]> {
    return this.#batcher.addAll(items);
  }

  drained(): Promise<void> {
    return this.#batcher.drained();
  }

  /** A batch that fails for another reason than an outage is split, so that one bad item can't hold up the others. */
  async #commit(items: readonly LedgerItem[], turn: Turn): Promise<readonly (LedgerResult | Error)[]> {
    let applied: AppliedBatch;
    const began = performance.now();
    try {
      applied = await applyBatch(this.context, items, turn);
    } catch (error) {
      this.#telemetry.failed(error);
      if (isAppError(error) && error.code === 'DATABASE_UNAVAILABLE') throw error;
      if (items.length === 1) return [error instanceof Error ? error : new Error(String(error))];
      const middle = Math.ceil(items.length / 2);
      return [
        ...(await this.#commit(items.slice(0, middle), ALONE)),
        ...(await this.#commit(items.slice(middle), ALONE)),
      ];
    }
    // The database gets the next batch's statements before this process is busy with what follows from this one.
    if (turn.isFollowed) await sent();
    // Committed by now: whatever goes wrong here must not apply the batch again.
    this.#sendOn(applied);
    this.#telemetry.committed(items, applied.news, (performance.now() - began) / 1_000);
    return applied.results;
  }

  /** Publishes what a commit left to publish. */
  #sendOn(applied: AppliedBatch): void {
    this.#relay.send(applied.doorbells, applied.context);
    for (const abort of applied.aborts) {
      // Lossy on purpose: the next heartbeat's answer says the same.
      if (this.#bus.connected) this.#bus.raw.publish(abort.subject, encoder.encode(JSON.stringify(abort.envelope)));
    }
    if (applied.waiting) this.#wakers.admission();
    if (applied.hasEvents) this.#wakers.events(applied.events);
    if (applied.hasSettlements) this.#wakers.settlements();
  }
}

/**
 * Batches that overlap share no task, so that they wait for no lock of each other, and what is said of a task stays in
 * order. What is not known to be of one task goes alone.
 */
function toBatchKey(item: LedgerItem): string | null | undefined {
  switch (item.kind) {
    case 'submit':
    case 'input':
      return item.letter === undefined ? keyOf(item) : null;
    case 'refuse':
    case 'admit':
      return undefined;
    default:
      return null;
  }
}
