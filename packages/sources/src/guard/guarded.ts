import { type AccessLevel, AppError, isAppError, type KnowledgeType } from '@cleanslate/contracts';
import {
  type Evidence,
  type Source,
  type SourceMetadata,
  SourceParams,
  type SourceQueryOptions,
} from '@cleanslate/domain';
import type { Hit, SourceAdapter } from '../adapter.ts';
import { toNetworkError } from '../http/network-error.ts';
import { sourceError } from '../source-error.ts';
import { type CallOutcome, SourceBreaker } from './breaker.ts';
import { readParams } from './read-params.ts';
import { isCleared, toEvidence } from './to-evidence.ts';

const MAX_EVIDENCE = 50;

export type GuardSettings = {
  readonly name: string;
  /** What is in it, for a planner and a person. */
  readonly title: string;
  /** The least that a reader needs. */
  readonly accessLevel: AccessLevel;
  /** How its texts are cleaned. */
  readonly knowledgeType: KnowledgeType;
  /** For one question, in milliseconds. */
  readonly timeoutMs: number;
  /** All evidence of one answer together, in characters. */
  readonly maxChars: number;
};

export type GuardHooks = {
  /** Called after each question: how it went (`answered`, or the error's code), how long it took, what was left out. */
  readonly onAnswer?: (answer: SourceAnswer) => void;
  /** A monotonic clock, in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
  /** The present, for a question without a pin. Default the system's clock. */
  readonly wallClock?: () => Date;
};

export type SourceAnswer = {
  readonly source: string;
  readonly outcome: string;
  readonly ms: number;
  readonly evidence: number;
  readonly dropped: Readonly<Record<string, number>>;
};

/**
 * An adapter behind everything that is the same for all: parameters, clearance, deadline, breaker, bounds, cleaning.
 * `for` gives one tenant's view of it.
 */
export type GuardedSource = AsyncDisposable & {
  readonly metadata: SourceMetadata;
  readonly isOpen: boolean;
  for(tenantId: string): Source;
  /** What the adapter says of itself, within the deadline. */
  check(): Promise<string>;
};

export function guarded(adapter: SourceAdapter, settings: GuardSettings, hooks: GuardHooks = {}): GuardedSource {
  const { name, title, accessLevel } = settings;
  const now = hooks.now ?? (() => performance.now());
  const breaker = new SourceBreaker({ now });
  const params = adapter.params.map(({ name: param, type, required, description }) => ({
    name: param,
    type,
    required,
    description,
  }));
  const metadata: SourceMetadata = Object.freeze({
    name,
    kind: adapter.kind,
    title,
    accessLevel,
    freshness: adapter.freshness,
    params,
  });
  const query = async (tenantId: string, given: SourceParams, options: SourceQueryOptions): Promise<Evidence[]> => {
    const started = now();
    const tell = (outcome: string, evidence = 0, dropped = {}) =>
      hooks.onAnswer?.({ source: name, outcome, ms: now() - started, evidence, dropped });
    try {
      const hits = await ask(adapter, settings, breaker, tenantId, given, options);
      const validAt = options.pin?.validAt ?? (hooks.wallClock?.() ?? new Date()).toISOString();
      const { clearance = 'internal', limit } = options;
      const clean = toEvidence(hits, { ...settings, source: name, clearance, validAt, limit, now });
      const evidence = keepWithin(clean.evidence, settings.maxChars);
      tell('answered', evidence.length, clean.dropped);
      return evidence;
    } catch (error) {
      tell(isAppError(error) ? error.code : 'INTERNAL');
      throw error;
    }
  };
  return {
    metadata,
    get isOpen() {
      return breaker.isOpen;
    },
    for: (tenantId) => ({
      name,
      kind: adapter.kind,
      metadata: () => metadata,
      query: (given, options) => query(tenantId, given, options),
    }),
    check: () =>
      withDeadline(name, settings.timeoutMs, new AbortController().signal, (signal) => adapter.check(signal)),
    [Symbol.asyncDispose]: () => adapter[Symbol.asyncDispose](),
  };
}

async function ask(
  adapter: SourceAdapter,
  { name, accessLevel, timeoutMs }: GuardSettings,
  breaker: SourceBreaker,
  tenantId: string,
  given: SourceParams,
  { signal, limit, pin, clearance = 'internal' }: SourceQueryOptions,
): Promise<readonly Hit[]> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_EVIDENCE)
    throw new AppError('INVALID_INPUT', `source "${name}", limit: must be a whole number from 1 to ${MAX_EVIDENCE}`);
  const shape = SourceParams.safeParse(given);
  if (!shape.success)
    throw new AppError(
      'INVALID_INPUT',
      `source "${name}", params: must be one level of names with text, numbers, true or false`,
    );
  const params = readParams(name, adapter.params, shape.data);
  if (!isCleared(accessLevel, clearance))
    throw sourceError(
      'SOURCE_FORBIDDEN',
      name,
      `is for readers cleared for ${accessLevel}; this one is for ${clearance}`,
    );
  if (signal.aborted) throw cancelled(name, signal);
  const pass = breaker.enter();
  if ('retryAfterMs' in pass)
    throw sourceError('SOURCE_UNAVAILABLE', name, 'failed several times in a row and is left alone for a moment', pass);
  let outcome: CallOutcome = 'neither';
  try {
    const hits = await withDeadline(name, timeoutMs, signal, (ended) =>
      adapter.find(params, { tenantId, signal: ended, limit, pin, clearance }),
    );
    outcome = 'answered';
    return hits;
  } catch (error) {
    outcome = isAppError(error) ? outcomeOf(error.code) : 'failed';
    throw error;
  } finally {
    pass.end(outcome);
  }
}

const FAULTS: ReadonlySet<string> = new Set(['SOURCE_TIMEOUT', 'SOURCE_UNAVAILABLE', 'SOURCE_BAD_ANSWER']);
const ANSWERS: ReadonlySet<string> = new Set(['SOURCE_FORBIDDEN', 'SOURCE_TOO_LARGE']);

/**
 * Errors that are the source's fault; a wrong parameter, a caller that gave up or a model that is away says nothing
 * about it.
 */
function outcomeOf(code: string): CallOutcome {
  if (FAULTS.has(code)) return 'failed';
  return ANSWERS.has(code) ? 'answered' : 'neither';
}

/** Runs to the deadline or the caller's end, whichever comes first, even if the work ignores its signal. */
async function withDeadline<T>(
  source: string,
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = AbortSignal.any([signal, timeout]);
  let stop: () => void = () => undefined;
  const over = new Promise<never>((_resolve, reject) => {
    stop = () => reject(ended.reason);
    ended.addEventListener('abort', stop, { once: true });
  });
  try {
    const working = work(ended);
    // If nobody waits for it any more, its failure is nobody's concern.
    working.catch(() => undefined);
    return await Promise.race([working, over]);
  } catch (error) {
    if (signal.aborted) throw cancelled(source, signal);
    if (timeout.aborted && !(isAppError(error) && error.code === 'SOURCE_TIMEOUT'))
      throw sourceError('SOURCE_TIMEOUT', source, `did not answer within ${timeoutMs} ms`, { cause: error });
    throw toNetworkError(source, error);
  } finally {
    ended.removeEventListener('abort', stop);
  }
}

function cancelled(source: string, signal: AbortSignal): AppError {
  return new AppError('CANCELLED', `source "${source}": whoever asked gave up`, { cause: signal.reason });
}

/** Best first: whatever no longer fits is left out whole. */
function keepWithin(evidence: readonly Evidence[], maxChars: number): Evidence[] {
  let left = maxChars;
  return evidence.filter(({ content }) => {
    left -= content.length;
    return left >= 0;
  });
}
