import {
  AppError,
  type ErrorBody,
  type ErrorCode,
  encodeMessage,
  type Fence,
  isAppError,
  type JsonObject,
  MAX_INLINE_BYTES,
  parseJsonText,
  StepReport,
  toReportId,
} from '@cleanslate/contracts';
import { findFactRefs } from '@cleanslate/domain';
import { toReason, toSafeError } from '../log/safe-error.ts';
import { scrub } from '../log/scrub.ts';
import type { ObjectStore } from './objects.ts';

const MAX_DETAILS = 16 * 1024;
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;
const encoder = new TextEncoder();

export function encodeReport(fence: Fence, source: string, report: StepReport): Uint8Array {
  const attributes = {
    id: toReportId(fence),
    source,
    time: new Date().toISOString(),
    tenantid: fence.tenantId,
    taskid: fence.taskId,
    stepid: fence.stepId,
    attempt: fence.attempt,
    claimid: fence.claimId,
    epoch: fence.epoch,
  };
  return encodeMessage(StepReport, attributes, report);
}

/**
 * Whether an output travels in its report; a larger one is stored first. Bytes are at most three times the UTF-16
 * length, so most need no second look.
 */
export function fitsInline(text: string): boolean {
  return text.length * 3 <= MAX_INLINE_BYTES || Buffer.byteLength(text) <= MAX_INLINE_BYTES;
}

/** The reference that travels instead of a stored output. Throws `RESULT_TOO_LARGE` for what fits nowhere. */
export async function storeOutput(
  output: JsonObject,
  text: string,
  tenantId: string,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<JsonObject> {
  try {
    const stored = await store.put(tenantId, encoder.encode(text), signal);
    const facts = findFactRefs(output);
    return facts.length === 0 ? stored : { ...stored, facts };
  } catch (error) {
    if (!isAppError(error) || error.code !== 'PAYLOAD_TOO_LARGE') throw error;
    throw new AppError(
      'RESULT_TOO_LARGE',
      `the output has ${text.length} characters: return less, or store it yourself`,
      {
        cause: error,
      },
    );
  }
}

/** The text of an executor's output. Throws `OUTPUT_CONTRACT` for what the platform's JSON can't carry. */
export function toOutputText(output: JsonObject, what = 'output'): string {
  try {
    const text = JSON.stringify(output);
    // What the readers of the report would refuse must fail here, as this executor's fault. The brackets stand for the
    // envelope's depth.
    parseJsonText(`[[${text}]]`, what);
    return text;
  } catch (error) {
    throw new AppError('OUTPUT_CONTRACT', toSafeError(error).message, { cause: error });
  }
}

/**
 * Whatever an executor threw, as a body that every reader accepts: short, without secrets, NUL or cycles. Never throws.
 */
export function toReportedError(error: unknown, fallback: ErrorCode = 'EXECUTOR_FAILED'): ErrorBody {
  if (!isOurs(error)) return new AppError(fallback, toReason(error)).toBody();
  const { code, disposition, retryAfterMs } = error;
  const details = safeDetails(error.details);
  const body = new AppError(CODE.test(code) ? code : fallback, scrub(error.message.slice(0, 64_000)), {
    disposition,
    ...(retryAfterMs !== undefined && retryAfterMs >= 0
      ? { retryAfterMs: Math.min(Math.round(retryAfterMs), 2 ** 31) }
      : {}),
    ...(details === undefined ? {} : { details }),
  }).toBody();
  return body;
}

/** What an attempt failed with whose executor left a rejection or an exception to nobody. Never throws. */
export function toFaultError(fault: unknown): ErrorBody {
  return new AppError('EXECUTOR_FAILED', `nothing in the executor handled: ${toReason(fault)}`).toBody();
}

function isOurs(error: unknown): error is AppError {
  try {
    return isAppError(error) && ['retryable', 'terminal', 'conflict', 'pause'].includes(error.disposition);
  } catch {
    return false;
  }
}

function safeDetails(details: unknown): Record<string, unknown> | undefined {
  if (details === undefined) return undefined;
  try {
    const text = scrub(JSON.stringify(details).slice(0, MAX_DETAILS + 1));
    if (text.length > MAX_DETAILS) return { note: `details of more than ${MAX_DETAILS} characters were dropped` };
    const value = parseJsonText(`[[[${text}]]]`, 'details');
    return (value as Record<string, unknown>[][][])[0]?.[0]?.[0];
  } catch {
    return { note: 'details that are not JSON were dropped' };
  }
}
