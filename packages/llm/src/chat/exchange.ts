import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, isAppError } from '@cleanslate/contracts';
import type { ModelBudget } from './budget.ts';
import type { Phrasing } from './dialect.ts';
import type { Endpoint, HttpQuestion } from './endpoint.ts';
import { type AskOptions, addUsage, type ModelUsage, NO_USAGE } from './model.ts';
import { isBilled, readFault, toModelError } from './model-error.ts';
import type { Message } from './prompt.ts';
import { AnswerCollector, checkAnswer, type RawAnswer } from './raw-answer.ts';
import { backoffMs, MAX_WAIT_MS } from './retry-after.ts';
import { estimateTokens, promptRoom, type TokenEstimate } from './tokens.ts';

/** The outcome of one HTTP request; for metrics. */
export type ModelCall = {
  readonly model: string;
  readonly purpose: string;
  /** `ok`, or the code of what went wrong. */
  readonly outcome: string;
  readonly ms: number;
  readonly usage: ModelUsage;
};

export type ExchangeParts = {
  readonly endpoint: Endpoint;
  readonly budget: ModelBudget;
  readonly maxRetries: number;
  readonly contextTokens: number;
  /** Of one token. */
  readonly prices: { readonly prompt: number; readonly completion: number } | undefined;
  readonly onCall: (call: ModelCall) => void;
};

/** Passing: the next request may well succeed. */
const IN_PASSING: ReadonlySet<string> = new Set([
  'MODEL_RATE_LIMITED',
  'MODEL_UNAVAILABLE',
  'MODEL_TIMEOUT',
  'MODEL_STALLED',
  'MODEL_EMPTY_ANSWER',
]);
/** The account has no money left: waiting for seconds changes nothing. */
const NO_QUOTA_MS = 300_000;
/** Wait for a server that is over its limit and names no time. */
const RATE_LIMITED_MS = 15_000;

/**
 * All the requests for one question, with what they used; at most `maxRetries` of them in addition to the first,
 * whatever fails.
 */
export class Exchange {
  readonly #parts: ExchangeParts;
  readonly #options: AskOptions;
  #retriesLeft: number;
  #failures = 0;
  #usage: ModelUsage = NO_USAGE;

  constructor(parts: ExchangeParts, options: AskOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#retriesLeft = parts.maxRetries;
  }

  get usage(): ModelUsage {
    return this.#usage;
  }

  /** Throws `MODEL_…`, or the reason of the caller's signal. */
  async send(question: HttpQuestion): Promise<RawAnswer> {
    const estimate = this.#checkRoom(question);
    for (;;) {
      try {
        return await this.#request(question, estimate);
      } catch (error) {
        this.#options.signal.throwIfAborted();
        if (error instanceof Learned) continue;
        const waitMs = this.#planRetry(error);
        if (waitMs === undefined) throw toFinal(error);
        // Rejects at once if the caller ends it.
        await sleep(waitMs, undefined, { signal: this.#options.signal }).catch(() =>
          this.#options.signal.throwIfAborted(),
        );
      }
    }
  }

  /** A server that receives too much answers, or silently cuts the prompt, the instructions first. */
  #checkRoom(question: HttpQuestion): TokenEstimate {
    const { contextTokens, endpoint } = this.#parts;
    const { low, high } = estimateTokens(question.messages.map(toCounted).join('\n'));
    const tools = question.tools === undefined ? 0 : estimateTokens(JSON.stringify(question.tools)).high;
    const estimate = { low, high: high + tools };
    const room = promptRoom(contextTokens, question.maxOutputTokens);
    if (estimate.high <= room) return estimate;
    throw new AppError(
      'MODEL_CONTEXT_TOO_LONG',
      `model "${endpoint.model}": the prompt may take ${estimate.high} tokens, and ${room} of MODEL_CONTEXT_TOKENS ${contextTokens} are left for it: split the data (askInParts)`,
      { details: { tokens: estimate.high, room } },
    );
  }

  async #request(question: HttpQuestion, estimate: TokenEstimate): Promise<RawAnswer> {
    const { endpoint, budget } = this.#parts;
    const { signal, attempt } = this.#options;
    const { purpose, maxOutputTokens } = question;
    const cost = this.#costOf(estimate.high, maxOutputTokens);
    const planned = { model: endpoint.model, purpose, attempt, tokens: estimate.high + maxOutputTokens, ...cost };
    const lease = await budget.reserve(planned, signal);
    const phrasing = endpoint.dialect.phrase(purpose, question.schema !== undefined);
    const startedAt = performance.now();
    const collector = new AnswerCollector();
    let isFree = false;
    let outcome = 'ok';
    try {
      const raw = await endpoint.request(question, { phrasing, collector, ends: [signal, lease.signal] });
      checkAnswer(raw, estimate.low);
      return raw;
    } catch (error) {
      isFree = !isBilled(error);
      const known = this.#toKnown(error, question, phrasing);
      outcome = signal.aborted ? 'aborted' : known.code;
      throw known;
    } finally {
      // Nobody says what a broken-off request cost; its prompt was read, and what had arrived was written.
      const used = isFree ? { ...NO_USAGE, requests: 1 } : this.#toUsage(collector.soFar(), estimate);
      this.#usage = addUsage(this.#usage, used);
      this.#parts.onCall({ model: endpoint.model, purpose, outcome, ms: performance.now() - startedAt, usage: used });
      const settled = lease.settle(used);
      // Whoever cancels waits for nothing.
      if (!signal.aborted) await settled;
    }
  }

  #toKnown(error: unknown, question: HttpQuestion, sentWith: Phrasing): AppError {
    if (isAppError(error)) return error;
    const { endpoint } = this.#parts;
    const fault = readFault(error);
    if (endpoint.dialect.learn({ ...fault, purpose: question.purpose, sentWith })) return new Learned();
    const known = toModelError(fault, endpoint.model, toEchoable(question));
    // DeepSeek and others say it by the status alone.
    if (fault.code !== 'insufficient_quota' && fault.status !== 402) return known;
    return new AppError('MODEL_RATE_LIMITED', known.message, {
      retryAfterMs: Math.max(NO_QUOTA_MS, known.retryAfterMs ?? 0),
    });
  }

  /** Milliseconds until the next request; undefined if there is none. */
  #planRetry(error: unknown): number | undefined {
    if (!isAppError(error) || !IN_PASSING.has(error.code) || this.#retriesLeft <= 0) return undefined;
    if ((error.retryAfterMs ?? 0) > MAX_WAIT_MS) return undefined;
    this.#retriesLeft--;
    return error.retryAfterMs ?? backoffMs(++this.#failures, Math.random());
  }

  #toUsage(raw: RawAnswer, estimate: TokenEstimate): ModelUsage {
    const promptTokens = raw.usage?.promptTokens || estimate.high;
    const said =
      (raw.reasoning?.text ?? '') + raw.content + raw.refusal + raw.toolCalls.map((call) => call.arguments).join('');
    const completionTokens = raw.usage?.completionTokens || estimateTokens(said).high;
    return { promptTokens, completionTokens, requests: 1, ...this.#costOf(promptTokens, completionTokens) };
  }

  #costOf(promptTokens: number, completionTokens: number): { cost?: number } {
    const { prices } = this.#parts;
    return prices === undefined ? {} : { cost: promptTokens * prices.prompt + completionTokens * prices.completion };
  }
}

/** The endpoint does not know a part of the request; the next one leaves it out. */
class Learned extends AppError {
  constructor() {
    super('MODEL_BAD_REQUEST', 'model: the server does not know a parameter');
  }
}

/** Handed back with a due time: the slot is free meanwhile, and no attempt is spent. */
function toFinal(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'MODEL_RATE_LIMITED' || error.retryAfterMs !== undefined) return error;
  return new AppError(error.code, error.message, { retryAfterMs: RATE_LIMITED_MS });
}

/** Everything of a message that takes tokens. */
function toCounted(message: Message): string {
  const calls = 'tool_calls' in message ? JSON.stringify(message.tool_calls) : '';
  const thinking = message.role === 'assistant' ? (message.reasoning_content ?? message.reasoning ?? '') : '';
  return `${message.content ?? ''}${calls}${thinking}`;
}

function toEchoable({ messages }: HttpQuestion): string {
  const text = messages.map(({ content }) => content ?? '').join('\n');
  return `${text}\n${JSON.stringify(text)}`;
}
