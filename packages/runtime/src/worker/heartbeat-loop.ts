import { type Bus, request } from '@cleanslate/bus';
import { decodeFromService, encodeMessage, Heartbeat, HeartbeatReply, subjects } from '@cleanslate/contracts';
import type { ClaimBook } from './claim-book.ts';
import type { WorkerIdentity } from './identity.ts';

export type HeartbeatLoopOptions = {
  readonly bus: Bus;
  readonly identity: WorkerIdentity;
  readonly book: ClaimBook;
  readonly capacity: () => { readonly slots: number; readonly free: number };
  /** Used until the ledger names its own. Milliseconds. */
  readonly leaseMs: number;
  readonly onReply: (reply: HeartbeatReply) => void;
  readonly onFailure: (error: unknown) => void;
};

/** Free slots are announced at least this often: the ledger dispatches by them. */
const MAX_PERIOD_MS = 1_000;
const MIN_PERIOD_MS = 50;
/** Each named claim is a look-up for the ledger; with more than this many waiting, the next beat comes soon. */
const MAX_REPORTED = 1_000;
const BUSY_PERIOD_MS = 200;

/**
 * One heartbeat for all claims of the worker. A failed beat calls `onFailure` and does nothing else: the ledger decides
 * about claims, and the next beat asks again.
 */
export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions;
  #leaseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #lastAnswerAt = performance.now();
  #moreReported = false;
  #stopped = false;

  constructor(options: HeartbeatLoopOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs;
  }

  /** Milliseconds since the ledger last answered. */
  get silentMs(): number {
    return performance.now() - this.#lastAnswerAt;
  }

  start(): void {
    void this.#beatThenWait();
  }

  /** A shorter lease shortens the period from the next beat on. */
  learnLease(leaseMs: number): void {
    this.#leaseMs = leaseMs;
  }

  /** One beat now, unless one is on its way. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#send().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
  }

  async #beatThenWait(): Promise<void> {
    const startedAt = performance.now();
    await this.beat();
    if (this.#stopped) return;
    const most = this.#moreReported ? BUSY_PERIOD_MS : MAX_PERIOD_MS;
    const period = Math.max(MIN_PERIOD_MS, Math.min(most, this.#leaseMs / 3));
    const pause = Math.max(MIN_PERIOD_MS, period - (performance.now() - startedAt));
    this.#timer = setTimeout(() => void this.#beatThenWait(), pause);
  }

  async #send(): Promise<void> {
    const { bus, identity, book, capacity, onReply, onFailure } = this.#options;
    const { workerId, role } = identity;
    try {
      this.#moreReported = book.reportedCount > MAX_REPORTED;
      const body = encodeMessage(Heartbeat, identity.envelope(), {
        worker: workerId,
        role,
        ...capacity(),
        running: book.running(),
        reported: book.reported(MAX_REPORTED).map((claim) => claim.fence),
      });
      const timeoutMs = Math.max(200, Math.min(3_000, this.#leaseMs / 2));
      const reply = await request(bus, subjects.heartbeat(role), body, { timeoutMs });
      const { data } = decodeFromService([HeartbeatReply], reply).envelope;
      this.#lastAnswerAt = performance.now();
      this.#leaseMs = data.leaseMs;
      onReply(data);
    } catch (error) {
      onFailure(error);
    }
  }
}
