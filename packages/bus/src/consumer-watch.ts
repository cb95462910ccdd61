import type { Bus } from './bus.ts';

/** What the consumer's state says about a loop that receives nothing. */
export type ConsumerVerdict =
  | { readonly kind: 'fine' }
  /** Work is pending and nobody's pull waits, or ours is not served. */
  | { readonly kind: 'starved'; readonly problem: string; readonly again: boolean; readonly deaf: boolean }
  /** Missing, or blocked by messages that others hold. */
  | { readonly kind: 'bad'; readonly problem: string }
  | { readonly kind: 'unknown' };

type ConsumerState = {
  readonly num_pending?: number;
  readonly num_ack_pending?: number;
  readonly config?: { readonly max_ack_pending?: number };
  readonly paused?: boolean;
  readonly error?: { readonly code?: number; readonly description?: string };
};

const IDLE_CHECK_MS = 8_000;
const RECHECK_MS = 3_000;
/**
 * This many starved looks in a row, each after pulling anew: then it is this process that does not hear. Half a minute
 * at most, as the broker answers each time.
 */
const DEAF_AFTER = 6;
const INFO_TIMEOUT_MS = 3_000;

/**
 * Looks at `CONSUMER.INFO` when no message came for a while: silence alone doesn't distinguish an empty queue from a
 * broken consumer.
 */
export class ConsumerWatch {
  readonly #bus: Bus;
  readonly #subject: string;
  readonly #recheckMs: number;
  #lastMessage = 0;
  #nextCheck = 0;
  #checking = false;
  #sawPending = false;
  #starved = 0;

  constructor(bus: Bus, stream: string, durable: string, recheckMs = RECHECK_MS) {
    this.#bus = bus;
    this.#recheckMs = recheckMs;
    this.#subject = `$JS.API.CONSUMER.INFO.${stream}.${durable}`;
  }

  received(): void {
    this.#lastMessage = performance.now();
    this.#sawPending = false;
    this.#starved = 0;
  }

  due(waiting: boolean): boolean {
    const now = performance.now();
    return waiting && !this.#checking && now >= this.#nextCheck && now - this.#lastMessage > this.#recheckMs;
  }

  async check(): Promise<ConsumerVerdict> {
    this.#checking = true;
    const askedAt = performance.now();
    let state: ConsumerState | undefined;
    try {
      const reply = await this.#bus.raw.request(this.#subject, '', { timeout: INFO_TIMEOUT_MS });
      state = reply.json<ConsumerState>();
    } catch {
      // No answer proves nothing: heartbeats and statuses report on the broker.
    } finally {
      this.#checking = false;
    }
    const verdict = this.#judge(state, askedAt);
    this.#nextCheck =
      performance.now() +
      (verdict.kind === 'fine' && !this.#sawPending ? Math.min(IDLE_CHECK_MS, 3 * this.#recheckMs) : this.#recheckMs);
    return verdict;
  }

  #judge(state: ConsumerState | undefined, askedAt: number): ConsumerVerdict {
    if (state === undefined) return { kind: 'unknown' };
    if (state.error) return { kind: 'bad', problem: `consumer: ${state.error.description ?? state.error.code}` };
    if (state.paused) return { kind: 'bad', problem: 'the consumer is paused' };
    if ((state.num_pending ?? 0) === 0) {
      this.#sawPending = false;
      this.#starved = 0;
      return { kind: 'fine' };
    }
    const limit = state.config?.max_ack_pending ?? -1;
    if (limit > 0 && (state.num_ack_pending ?? 0) >= limit) {
      return { kind: 'bad', problem: `max_ack_pending (${limit}) is used up by messages nobody settled` };
    }
    // Twice in a row, with no message in between: work is there and does not reach us.
    const starved = this.#sawPending && this.#lastMessage < askedAt - this.#recheckMs;
    this.#sawPending = true;
    if (!starved) return { kind: 'fine' };
    this.#starved++;
    const problem = `${state.num_pending} messages are pending and none arrive: pulling anew`;
    return { kind: 'starved', problem, again: this.#starved > 1, deaf: this.#starved >= DEAF_AFTER };
  }
}
