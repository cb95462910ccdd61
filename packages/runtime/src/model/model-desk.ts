import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, backoffMs, request } from '@cleanslate/bus';
import {
  AppError,
  type AttemptRef,
  decodeFromService,
  encodeMessage,
  isAppError,
  ModelCallAsk,
  ModelCallReply,
  subjects,
} from '@cleanslate/contracts';
import type { CallLease, ModelBudget, ModelUsage, PlannedCall } from '@cleanslate/llm';
import type { WorkerIdentity } from '../worker/identity.ts';
import { WaitingLine } from './waiting-line.ts';

export type ModelDeskOptions = {
  readonly bus: Bus;
  readonly identity: WorkerIdentity;
  readonly onFailure: (error: unknown) => void;
  /**
   * How long a call waits in its slot for room under a limit; then the attempt is handed back. Milliseconds, default 5
   * s.
   */
  readonly maxWaitMs?: number;
  /**
   * How long an absent scheduler is asked again; after that it is an outage, and the attempt is handed back at no cost.
   * Milliseconds, default 10 s.
   */
  readonly askForMs?: number;
};

const TIMEOUT_MS = 3_000;
const AGAIN = { firstMs: 200, maxMs: 2_000 };
const RENEWALS_PER_LEASE = 3;
/** Subtracted from what is left of a lease: the request must end before it. */
const BREAK_OFF_AT = 0.95;
/**
 * The shortest time after which an attempt that was handed back comes again, and the longest, in
 * case somebody raises the limit.
 */
const COME_BACK_MS = { least: 5_000, most: 300_000 };

type Granted = Extract<ModelCallReply, { answer: 'granted' }> & { readonly sentAt: number };
type Refused = Extract<ModelCallReply, { answer: 'wait' }>;

type Held = {
  readonly bounded: boolean;
  readonly abort: AbortController;
  /**
   * Breaks the request off, by this process's own clock and counted from before the lease was asked for: never later
   * than in the ledger.
   */
  end: NodeJS.Timeout | undefined;
};

/**
 * One call for permission. `unanswered`: such a request may arrive, and be granted, later than the answer to another.
 */
type Asked = { readonly callId: string; unanswered: boolean };

/**
 * Asks the ledger for permission to make each request to a model, and renews it while the request runs, so that the
 * limits hold for all workers together.
 */
export class ModelDesk implements ModelBudget {
  readonly #options: ModelDeskOptions;
  readonly #held = new Map<string, Held>();
  /** One for each tenant and model ever asked for here: few. */
  readonly #lines = new Map<string, WaitingLine>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ModelDeskOptions) {
    this.#options = options;
  }

  async reserve(call: PlannedCall, signal: AbortSignal): Promise<CallLease> {
    const { attempt } = call;
    if (attempt === undefined)
      throw new AppError('CONFIGURATION', 'model calls of a worker belong to an attempt: use ctx.model');
    const callId = randomUUID();
    const asked: Asked = { callId, unanswered: false };
    try {
      return this.#hold(callId, attempt, await this.#askForRoom(call, attempt, asked, signal));
    } catch (error) {
      // It may have been granted nevertheless, or still be.
      if (signal.aborted || asked.unanswered || !isAppError(error) || error.code !== 'MODEL_BUDGET_SPENT')
        void this.#settle(callId, attempt, NOTHING);
      throw error;
    }
  }

  /** At once if nobody waits here; otherwise after those who do. */
  async #askForRoom(call: PlannedCall, attempt: AttemptRef, asked: Asked, signal: AbortSignal): Promise<Granted> {
    const { maxWaitMs = 5_000 } = this.#options;
    const giveUpAt = performance.now() + maxWaitMs;
    const ask = () => this.#askOnce(call, attempt, asked, signal);
    const line = this.#lineOf(attempt.tenantId, call.model);
    let refused = line.isEmpty ? await ask() : undefined;
    if (refused?.answer === 'granted') return refused;
    const inTime = await line.enter(giveUpAt - performance.now(), signal);
    if (!inTime) throw toSpent(refused?.limit ?? `model "${call.model}"`, 0);
    try {
      for (;;) {
        const since = line.wakes;
        refused = await ask();
        if (refused.answer === 'granted') return refused;
        const waitMs = refused.retryInMs * (0.5 + Math.random());
        if (performance.now() + waitMs > giveUpAt) throw toSpent(refused.limit, refused.retryInMs);
        await line.pause(waitMs, since, signal);
      }
    } finally {
      line.leave();
    }
  }

  async #askOnce(
    call: PlannedCall,
    attempt: AttemptRef,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<Granted | Refused> {
    const { model, tokens, cost } = call;
    const sentAt = performance.now();
    const need = { tokens: Math.ceil(tokens), ...(cost === undefined ? {} : { cost }) };
    const ask: ModelCallAsk = { ask: 'reserve', ...this.#who, callId: asked.callId, attempt, model, ...need };
    const reply = await this.#ask(ask, asked, attempt.tenantId, signal);
    if (reply.answer === 'granted') return { ...reply, sentAt };
    if (reply.answer === 'wait') return reply;
    const limit = reply.answer === 'never' ? reply.limit : 'unknown';
    throw new AppError(
      'MODEL_BUDGET_SPENT',
      `one call is over a whole limit: ${limit}; raise it (slate model limits), or ask for less`,
      { disposition: 'terminal' },
    );
  }

  #lineOf(tenantId: string, model: string): WaitingLine {
    const key = `${tenantId} ${model}`;
    const line = this.#lines.get(key) ?? new WaitingLine();
    this.#lines.set(key, line);
    return line;
  }

  #hold(callId: string, attempt: AttemptRef, { leaseMs, bounded, sentAt }: Granted): CallLease {
    const held: Held = { bounded, abort: new AbortController(), end: undefined };
    this.#held.set(callId, held);
    this.#prolong(callId, sentAt + leaseMs);
    this.#renewIn(leaseMs / RENEWALS_PER_LEASE);
    return {
      signal: held.abort.signal,
      settle: async (usage) => {
        this.#held.delete(callId);
        clearTimeout(held.end);
        await this.#settle(callId, attempt, usage);
        // Its slot is free for anybody who waits here.
        for (const line of this.#lines.values()) line.wake();
      },
    };
  }

  #renewIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#renew(ms);
    }, ms).unref();
  }

  async #renew(everyMs: number): Promise<void> {
    const callIds = [...this.#held.keys()].slice(0, 1_000);
    if (callIds.length === 0) return;
    this.#renewIn(everyMs);
    const sentAt = performance.now();
    try {
      const reply = await this.#send({ ask: 'renew', ...this.#who, callIds }, undefined, Math.min(everyMs, TIMEOUT_MS));
      const lost = new Set(reply.answer === 'done' ? reply.lost : []);
      for (const callId of callIds) this.#prolong(callId, lost.has(callId) ? 0 : sentAt + everyMs * RENEWALS_PER_LEASE);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }

  /** A call whose place another may take is broken off a little earlier. */
  #prolong(callId: string, validUntil: number): void {
    const held = this.#held.get(callId);
    if (held === undefined || !held.bounded) return;
    clearTimeout(held.end);
    const breakOff = () => held.abort.abort(toLost());
    held.end = setTimeout(breakOff, Math.max(0, validUntil - performance.now()) * BREAK_OFF_AT).unref();
  }

  async #settle(callId: string, attempt: AttemptRef, usage: ModelUsage): Promise<void> {
    const { promptTokens, completionTokens, cost } = usage;
    const used = { promptTokens, completionTokens, ...(cost === undefined ? {} : { cost }) };
    const ask: ModelCallAsk = { ask: 'settle', ...this.#who, callId, attempt, ...used };
    // Said twice it counts once; if it gets lost, its lease ends, and what was reserved stays counted.
    for (let tries = 1; tries <= 2; tries++) {
      try {
        await this.#send(ask, attempt.tenantId);
        return;
      } catch (error) {
        this.#options.onFailure(error);
      }
    }
  }

  async #ask(ask: ModelCallAsk, asked: Asked, tenantId: string, signal: AbortSignal): Promise<ModelCallReply> {
    const giveUpAt = performance.now() + (this.#options.askForMs ?? 10_000);
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted();
      try {
        return await untilAborted(this.#send(ask, tenantId), signal);
      } catch (error) {
        asked.unanswered = true;
        signal.throwIfAborted();
        if (isAppError(error) && error.disposition !== 'retryable') throw error;
        this.#options.onFailure(error);
        if (performance.now() > giveUpAt)
          throw new AppError('BROKER_UNAVAILABLE', 'the scheduler does not answer who may call the model', {
            cause: error,
          });
      }
      await sleep(backoffMs(tries, AGAIN), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  get #who() {
    const { role, workerId: worker } = this.#options.identity;
    return { role, worker };
  }

  async #send(ask: ModelCallAsk, tenantId: string | undefined, timeoutMs = TIMEOUT_MS): Promise<ModelCallReply> {
    const { bus, identity } = this.#options;
    const attributes = { ...identity.envelope(), ...(tenantId === undefined ? {} : { tenantid: tenantId }) };
    const body = encodeMessage(ModelCallAsk, attributes, ask);
    const reply = await request(bus, subjects.modelCall(identity.role), body, { timeoutMs });
    return decodeFromService([ModelCallReply], reply).envelope.data;
  }
}

const NOTHING: ModelUsage = { promptTokens: 0, completionTokens: 0, requests: 0 };

function toLost(): AppError {
  return new AppError('MODEL_UNAVAILABLE', 'the right to this model call could not be renewed: it was broken off');
}

/** Handed back until there may be room; spread out, so that not all come at once. */
function toSpent(limit: string, retryInMs: number): AppError {
  const retryAfterMs = Math.round(
    Math.min(Math.max(retryInMs, COME_BACK_MS.least), COME_BACK_MS.most) + Math.random() * COME_BACK_MS.least,
  );
  return new AppError(
    'MODEL_BUDGET_SPENT',
    `the limit of ${limit} is reached: it goes on by itself (slate model limits)`,
    { retryAfterMs },
  );
}

/** A request on the bus takes no signal; whoever cancels does not wait for its answer. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}
