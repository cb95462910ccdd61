import { backoffMs } from '@cleanslate/bus';
import { type ErrorBody, MAX_ERROR_MESSAGE, type StepReport, toStorableText } from '@cleanslate/contracts';

/** This many attempts in a row found a dependency away. */
const OPENS_AFTER = 3;
const OPEN = { firstMs: 1_000, maxMs: 15_000 };
/** While a probe is running, the others come back this much later. */
const PROBE_MS = 1_000;
const OUTAGE_CODES: ReadonlySet<string> = new Set(['BROKER_UNAVAILABLE', 'DATABASE_UNAVAILABLE']);

/** Permission to call the executor once. Call `end` with the outcome; undefined if the claim was gone before. */
export type Pass = { readonly end: (report: StepReport | undefined) => void };

/**
 * A dependency of one executor (database, broker, model endpoint) is away: its attempts cost nothing, but each still
 * makes a call that waits. So the executor is not called for a while, longer each time; then one attempt is the probe,
 * and the others wait for its outcome. A probe that succeeds closes the breaker. Which errors count as an outage the
 * taxonomy says: disposition `pause`, or the code of an outage.
 */
export class CircuitBreaker {
  readonly #onChange: () => void;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #probe: Pass | undefined;
  #failures = 0;
  #opened = 0;
  #retryAt = 0;
  #error: ErrorBody | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get state(): 'closed' | 'open' | 'half-open' {
    return this.#state;
  }

  /** Milliseconds until the next probe, if it is open. */
  get retryInMs(): number {
    return Math.max(0, this.#retryAt - performance.now());
  }

  /** A pass, or the outage's error with the time after which to come again. */
  enter(): Pass | ErrorBody {
    const waits = this.#state === 'open' || (this.#state === 'half-open' && this.#probe !== undefined);
    if (waits && this.#error !== undefined) {
      const retryAfterMs = Math.ceil(Math.max(PROBE_MS, this.retryInMs));
      const message = toStorableText(`not tried, a dependency is away: ${this.#error.message}`, MAX_ERROR_MESSAGE);
      return { ...this.#error, message, retryAfterMs };
    }
    const pass: Pass = { end: (report) => this.#learn(pass, report) };
    if (this.#state === 'half-open') this.#probe = pass;
    return pass;
  }

  /** No timer is left. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #learn(pass: Pass, report: StepReport | undefined): void {
    const probed = this.#probe === pass;
    if (probed) this.#probe = undefined;
    if (report === undefined || saysNothing(report)) return;
    if (report.outcome === 'failed' && isOutage(report.error)) {
      this.#error = report.error;
      this.#failures++;
      if (this.#state === 'closed' ? this.#failures >= OPENS_AFTER : probed) this.#open();
      return;
    }
    this.#failures = 0;
    this.#opened = 0;
    this.#become('closed');
  }

  #open(): void {
    const ms = backoffMs(++this.#opened, OPEN);
    this.#retryAt = performance.now() + ms;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#become('half-open'), ms);
    this.#timer.unref();
    this.#become('open');
  }

  #become(state: 'closed' | 'open' | 'half-open'): void {
    if (state !== 'open') clearTimeout(this.#timer);
    if (state === this.#state) return;
    this.#state = state;
    this.#onChange();
  }
}

/** One tenant's budget is spent, or the attempt hung until its timeout. */
const NOBODYS_OUTAGE: ReadonlySet<string> = new Set(['ATTEMPT_TIMEOUT', 'MODEL_BUDGET_SPENT']);

/** Proves neither that the dependency answers nor that it doesn't. */
function saysNothing(report: StepReport): boolean {
  return report.outcome === 'released' || (report.outcome === 'failed' && NOBODYS_OUTAGE.has(report.error.code));
}

function isOutage({ code, disposition }: ErrorBody): boolean {
  return disposition === 'pause' || OUTAGE_CODES.has(code);
}
