import type { PulledMessage } from '@cleanslate/bus';
import { AppError, isAppError, type StepReport, type StepRun, type Usage } from '@cleanslate/contracts';
import type { ModelUsage } from '@cleanslate/llm';
import type { Executor } from '../executor/executor.ts';
import type { BreakerBoard } from './breaker-board.ts';
import { type Claim, toStopError } from './claim.ts';
import { readCommand } from './doorbell.ts';
import { traceFaults } from './fault-tracing.ts';
import { holdsObject, type ObjectStore, resolveObjects } from './objects.ts';
import { OpenContext, type StepServices } from './step-context.ts';
import { fitsInline, storeOutput, toFaultError, toOutputText, toReportedError } from './step-report.ts';

export type StepRunnerOptions = StepServices & {
  readonly executors: ReadonlyMap<string, Executor>;
  readonly breakers: Pick<BreakerBoard, 'enter'>;
  readonly objects: ObjectStore;
  /** Largest body of a report. */
  readonly maxBytes: () => number;
  /** How long a stopped executor may take to react. Milliseconds, default 5 s; then its slot is freed without it. */
  readonly abandonMs?: number;
  readonly onAbandoned: (claim: Claim) => void;
};

export type StepResult = {
  /** Undefined: the claim is gone, there is nothing to report. */
  readonly report: StepReport | undefined;
  readonly executor: string;
  readonly durationMs: number;
};

/** Not ours to judge: another version of this worker may be able to read it. */
const COME_BACK_MS = 10_000;
const ABANDONED = Symbol('abandoned');

/**
 * Runs one attempt and says how it ended. Never throws, whatever the body contains and the executor does. `read`: its
 * command, if it was read before.
 */
export async function runStep(
  options: StepRunnerOptions,
  claim: Claim,
  message: Pick<PulledMessage, 'data'>,
  read?: StepRun,
): Promise<StepResult> {
  const startedAt = performance.now();
  let command: StepRun;
  try {
    command = read ?? readCommand(message.data, claim.fence);
  } catch (error) {
    return toResult(startedAt, 'unknown', toUnreadable(error, message.data, options.maxBytes()));
  }
  const name = command.executor;
  const executor = options.executors.get(name);
  if (executor === undefined) {
    return toResult(startedAt, name, { outcome: 'released', reason: 'UNKNOWN_EXECUTOR', dueInMs: COME_BACK_MS });
  }
  const pass = options.breakers.enter(name);
  if (!('end' in pass)) return toResult(startedAt, name, { outcome: 'failed', error: pass });
  if (executor.timeoutMs !== undefined) claim.limit(executor.timeoutMs);
  const open = new OpenContext(options, claim, command, executor.pure);
  const execution = { claim, command, executor, open, startedAt, message };
  const ended = await unlessAbandoned(execute(options, execution), claim, options.abandonMs ?? 5_000);
  if (ended === ABANDONED) options.onAbandoned(claim);
  const report = ended === ABANDONED ? toStopReport(claim, toUsage(startedAt, open.modelUsage)) : ended;
  const gone = claim.stopped === 'lost' || claim.stopped === 'cancelled';
  pass.end(gone ? undefined : report);
  return toResult(startedAt, name, gone ? undefined : report);
}

function toResult(startedAt: number, executor: string, report: StepReport | undefined): StepResult {
  return { report, executor, durationMs: elapsedMs(startedAt) };
}

type Execution = {
  readonly claim: Claim;
  readonly command: StepRun;
  readonly executor: Executor;
  readonly open: OpenContext;
  readonly startedAt: number;
  /** The command's bytes, for a dead letter. */
  readonly message: Pick<PulledMessage, 'data'>;
};

async function execute(options: StepRunnerOptions, execution: Execution): Promise<StepReport> {
  const { claim, command, executor, open, startedAt } = execution;
  const { tenantId } = claim.fence;
  try {
    const input = holdsObject(command.input)
      ? await resolveObjects(options.objects, tenantId, command.input, claim.signal)
      : command.input;
    const output = await traceFaults(claim, () => executor.execute(open.context, input));
    const text = toOutputText(output);
    const travelling = fitsInline(text)
      ? output
      : await storeOutput(output, text, tenantId, options.objects, claim.signal);
    const candidates = open.proposals.length === 0 ? [] : await Promise.all(open.proposals);
    // Last of all: a session holds only what a successful step said.
    const sessions = open.storeSessions();
    if (sessions !== undefined) await sessions;
    return { outcome: 'succeeded', output: travelling, candidates, usage: toUsage(startedAt, open.modelUsage) };
  } catch (error) {
    const usage = toUsage(startedAt, open.modelUsage);
    return toFailure(claim, error, execution.message.data, usage, options.maxBytes());
  } finally {
    open.end();
  }
}

function toFailure(claim: Claim, error: unknown, body: Uint8Array, usage: Usage, maxBytes: number): StepReport {
  if (claim.stopped === 'timeout' || claim.stopped === 'drain' || claim.stopped === 'fault')
    return toStopReport(claim, usage);
  const report = { outcome: 'failed' as const, error: toReportedError(error), usage };
  // An input that breaks the contract must be looked at and repaired, as much as one that is not JSON.
  const unreadable = isAppError(error) && error.code === 'SCHEMA_MISMATCH';
  return unreadable ? { ...report, ...toRaw(body, maxBytes) } : report;
}

function toStopReport(claim: Claim, usage: Usage): StepReport {
  if (claim.stopped === 'drain') return { outcome: 'released', reason: 'drain' };
  if (claim.stopped === 'fault') return { outcome: 'failed', error: toFaultError(claim.fault), usage };
  return { outcome: 'failed', error: toStopError(claim.stopped ?? 'timeout').toBody(), usage };
}

function toUnreadable(error: unknown, body: Uint8Array, maxBytes: number): StepReport {
  if (isAppError(error) && error.code === 'UNSUPPORTED_VERSION') {
    return { outcome: 'released', reason: 'UNSUPPORTED_VERSION', dueInMs: COME_BACK_MS };
  }
  const reported = toReportedError(error, 'UNPARSEABLE');
  return { outcome: 'failed', error: { ...reported, disposition: 'terminal' }, ...toRaw(body, maxBytes) };
}

/** Base64 takes a third more room than the bytes; what doesn't fit is cut, and the letter shows that by its length. */
function toRaw(body: Uint8Array, maxBytes: number): { raw: string } {
  const room = Math.floor(((maxBytes - 64 * 1024) * 3) / 4);
  return { raw: Buffer.from(body.subarray(0, room)).toString('base64') };
}

function toUsage(startedAt: number, { requests, promptTokens, completionTokens }: ModelUsage): Usage {
  const durationMs = elapsedMs(startedAt);
  return requests === 0 ? { durationMs } : { durationMs, inputTokens: promptTokens, outputTokens: completionTokens };
}

/** To the microsecond: more digits mean nothing and travel with every report. */
function elapsedMs(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 1_000) / 1_000;
}

/**
 * Also settles some time after the claim was stopped: an executor that ignores its signal must not hold the slot for
 * ever.
 */
function unlessAbandoned<T>(work: Promise<T>, claim: Claim, afterMs: number): Promise<T | typeof ABANDONED> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    claim.onStop(() => setTimeout(() => resolve(ABANDONED), afterMs).unref());
  });
}

export function tooLarge(bytes: number): StepReport {
  const error = new AppError('RESULT_TOO_LARGE', `the report of ${bytes} bytes is larger than the broker takes`);
  return { outcome: 'failed', error: error.toBody() };
}
