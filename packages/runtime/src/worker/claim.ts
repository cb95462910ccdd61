import { hash } from 'node:crypto';
import { AppError, type AttemptRef, type ClaimAnswer, type Fence } from '@cleanslate/contracts';
import { traceFaults } from './fault-tracing.ts';

/** Why a run is stopped from outside. `lost` and `cancelled` report nothing. */
export type StopReason = 'lost' | 'cancelled' | 'timeout' | 'drain' | 'fault';

/** A report as the stream has it. */
export type StoredReport = {
  readonly body: Uint8Array;
  /** Of its message id. */
  readonly saying: number;
};

/**
 * What is left of a claim whose report is stored: the slot is free, and heartbeats name it until the ledger says that
 * it is settled. There may be thousands of them, so it holds only what repeating the report needs.
 */
export type ReportedClaim = StoredReport & {
  readonly fence: Fence;
  readonly trace: Readonly<Record<string, string>>;
  storedAt: number;
  /** How often it was repeated. */
  repeats: number;
};

/**
 * One attempt in this worker's hands. `asking`: the ledger has not granted it yet. `running`: executing, or its report
 * is not stored yet.
 */
export class Claim {
  readonly fence: Fence;
  state: 'asking' | 'running' = 'asking';
  /** Headers to pass on: trace context, of the doorbell and then of the step's own span. */
  trace: Readonly<Record<string, string>>;
  #abort: AbortController | undefined;
  #onStop: (() => void) | undefined;
  #endsAt = Number.POSITIVE_INFINITY;
  #stopped: StopReason | undefined;
  #fault: unknown;
  #timer: NodeJS.Timeout | undefined;

  constructor(fence: Fence, trace: Readonly<Record<string, string>>) {
    this.fence = fence;
    this.trace = trace;
  }

  /** Made when it is first asked for: an executor that only computes has no use for it. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#stopped !== undefined) this.#abort.abort(toStopError(this.#stopped));
    }
    return this.#abort.signal;
  }

  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  /** Milliseconds left, never negative. */
  remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  granted(answer: ClaimAnswer): void {
    this.state = 'running';
    if (answer.remainingMs !== undefined) this.limit(answer.remainingMs);
  }

  /** Ends the run after `ms`, if nothing ends it sooner. */
  limit(ms: number): void {
    const endsAt = performance.now() + Math.max(0, ms);
    if (endsAt >= this.#endsAt) return;
    this.#endsAt = endsAt;
    clearTimeout(this.#timer);
    // Longer than Node's timers reach: the ledger's own due time ends it.
    if (ms < 2 ** 31) this.#timer = setTimeout(() => this.stop('timeout'), Math.max(0, ms));
  }

  /** What its run was stopped for, with `fault`. */
  get fault(): unknown {
    return this.#fault;
  }

  /** Stops the run because of a fault that it left to nobody. One that comes of being stopped is not its reason. */
  fail(fault: unknown): void {
    if (this.#stopped !== undefined) return;
    this.#fault = fault;
    this.stop('fault');
  }

  stop(reason: StopReason): void {
    if (this.#stopped !== undefined) {
      // A claim that is gone must not be reported, whatever stopped it first.
      if (reason === 'lost' || reason === 'cancelled') this.#stopped = reason;
      return;
    }
    this.#stopped = reason;
    // Its listeners are the executor's, though a timer or a heartbeat calls them: what they leave to nobody is its fault.
    traceFaults(this, () => this.#abort?.abort(toStopError(reason)));
    this.#onStop?.();
  }

  /** Calls it when the run is stopped, at once if it already is. There is one such listener. */
  onStop(listener: () => void): void {
    if (this.#stopped !== undefined) listener();
    else this.#onStop = listener;
  }

  ended(): void {
    clearTimeout(this.#timer);
  }
}

export function toStopError(reason: StopReason): AppError {
  if (reason === 'cancelled') return new AppError('CANCELLED', 'the task was cancelled');
  if (reason === 'lost') return new AppError('STALE_ATTEMPT', 'the claim on this attempt no longer holds');
  if (reason === 'fault')
    return new AppError('EXECUTOR_FAILED', 'the executor left a fault to nobody, which ends its worker');
  if (reason === 'timeout')
    return new AppError('ATTEMPT_TIMEOUT', 'the attempt reached its timeout or the task its deadline');
  return new AppError('CANCELLED', 'the worker is shutting down; the step is handed back', {
    disposition: 'retryable',
  });
}

function attemptKey({ epoch, tenantId, taskId, stepId, attempt }: AttemptRef): string {
  return `${epoch}/${tenantId}/${taskId}/${stepId}/${attempt}`;
}

/** The same for the same worker incarnation and attempt, so that asking again can't make a second claim. */
export function toClaimId(workerId: string, attempt: AttemptRef): string {
  return `${workerId}:${shortHash(attemptKey(attempt))}`;
}

export function toCandidateId(fence: Fence, n: number): string {
  return `cand-${shortHash(`${attemptKey(fence)}/${fence.claimId}`)}-${n}`;
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 24);
}
