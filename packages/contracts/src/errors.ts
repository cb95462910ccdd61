import { z } from 'zod';
import { toStorableDetails } from './error-details.ts';
import { toStorableText } from './storable-text.ts';

/** What the runtime must do with an error; everything else (ack, HTTP status, exit code) follows from it. */
export const Disposition = z.enum(['retryable', 'terminal', 'conflict', 'pause']);
export type Disposition = z.infer<typeof Disposition>;

/**
 * The stable codes of the platform with their default disposition. A user's executor may report codes of its own
 * (SCREAMING_SNAKE), with the disposition that it chooses.
 */
export const ERROR_CODES = {
  // input
  INVALID_INPUT: 'terminal',
  UNPARSEABLE: 'terminal',
  SCHEMA_MISMATCH: 'terminal',
  UNSUPPORTED_VERSION: 'pause',
  PAYLOAD_TOO_LARGE: 'terminal',
  UNKNOWN_WORKFLOW: 'terminal',
  UNKNOWN_TENANT: 'terminal',
  TENANT_SUSPENDED: 'pause',
  TENANT_ACTIVE: 'conflict',
  TENANT_MISMATCH: 'terminal',
  UNAUTHORIZED: 'terminal',
  NOT_FOUND: 'terminal',
  RATE_LIMITED: 'retryable',
  // task machine
  IDEMPOTENCY_CONFLICT: 'conflict',
  ILLEGAL_TRANSITION: 'conflict',
  STALE_ATTEMPT: 'conflict',
  ALREADY_COMPLETED: 'conflict',
  ALREADY_REPLAYED: 'conflict',
  NEEDS_HUMAN: 'pause',
  CANCELLED: 'terminal',
  DEADLINE_EXCEEDED: 'terminal',
  QUEUE_EXPIRED: 'terminal',
  RINGS_EXHAUSTED: 'terminal',
  ATTEMPT_TIMEOUT: 'retryable',
  LEASE_EXPIRED: 'retryable',
  ATTEMPTS_EXHAUSTED: 'terminal',
  DEPENDENCY_FAILED: 'terminal',
  VALIDATION_REJECTED: 'terminal',
  VALIDATION_EXHAUSTED: 'terminal',
  SUPERSEDED: 'terminal',
  NOT_NEEDED: 'terminal',
  PLAN_INVALID: 'terminal',
  CONTRACT_MISMATCH: 'terminal',
  WORKFLOW_TAKEN: 'conflict',
  GATE_REJECTED: 'terminal',
  GATE_EXPIRED: 'terminal',
  GATE_MISMATCH: 'conflict',
  // work
  EXECUTOR_FAILED: 'retryable',
  UNKNOWN_EXECUTOR: 'pause',
  OUTPUT_CONTRACT: 'terminal',
  RESULT_TOO_LARGE: 'terminal',
  // knowledge
  FACT_CONFLICT: 'conflict',
  FACT_OVERLAP: 'terminal',
  CANDIDATE_MISSING: 'terminal',
  EMBEDDINGS_UNAVAILABLE: 'retryable',
  EMBEDDING_MISMATCH: 'terminal',
  // sources
  SOURCE_UNKNOWN: 'terminal',
  SOURCE_FORBIDDEN: 'terminal',
  SOURCE_TOO_LARGE: 'terminal',
  SOURCE_TIMEOUT: 'retryable',
  SOURCE_UNAVAILABLE: 'retryable',
  SOURCE_BAD_ANSWER: 'retryable',
  // models
  MODEL_TRUNCATED: 'terminal',
  MODEL_REFUSED: 'terminal',
  MODEL_BAD_ANSWER: 'terminal',
  MODEL_BAD_REQUEST: 'terminal',
  MODEL_CONTEXT_TOO_LONG: 'terminal',
  MODEL_PROMPT_CUT: 'terminal',
  NO_PROGRESS: 'terminal',
  MODEL_EMPTY_ANSWER: 'retryable',
  MODEL_TIMEOUT: 'retryable',
  MODEL_STALLED: 'retryable',
  MODEL_RATE_LIMITED: 'pause',
  MODEL_UNAVAILABLE: 'pause',
  MODEL_BUDGET_SPENT: 'pause',
  // environment
  TENANT_QUEUE_FULL: 'retryable',
  BROKER_UNAVAILABLE: 'retryable',
  DATABASE_UNAVAILABLE: 'retryable',
  REQUEST_TIMEOUT: 'retryable',
  CONFIGURATION: 'terminal',
  LEDGER_BEHIND_STREAM: 'pause',
  INTERNAL: 'retryable',
} as const satisfies Record<string, Disposition>;
export type ErrorCode = keyof typeof ERROR_CODES;

const CODE_PATTERN = /^[A-Z][A-Z0-9_]{1,63}$/;
/** Error text is cut here before it enters a message: a provider's echo of a prompt must not become the payload. */
export const MAX_ERROR_MESSAGE = 4_000;

/** An error as it travels and is stored. */
export const ErrorBody = z.strictObject({
  code: z.string().regex(CODE_PATTERN),
  disposition: Disposition,
  message: z.string().max(MAX_ERROR_MESSAGE + 100),
  retryAfterMs: z.int().nonnegative().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

export type AppErrorOptions = {
  readonly disposition?: Disposition;
  readonly retryAfterMs?: number;
  readonly details?: Record<string, unknown>;
  readonly cause?: unknown;
};

/** The one error class. `message` says what was wrong, where, and what to do; `code` is stable API. */
export class AppError extends Error {
  readonly code: string;
  readonly disposition: Disposition;
  readonly retryAfterMs: number | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode | (string & {}), message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.disposition = options.disposition ?? dispositionOf(code);
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
  }

  /** The error as it travels. Whatever it was made of, `ErrorBody` and every reader accept the result. */
  toBody(): ErrorBody {
    const retryAfterMs = toWholeMs(this.retryAfterMs);
    const isCode = CODE_PATTERN.test(this.code);
    return {
      code: isCode ? this.code : 'INTERNAL',
      disposition: this.disposition,
      message: cut(isCode ? this.message : `${this.message} (code ${JSON.stringify(this.code)})`),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(this.details === undefined ? {} : { details: toStorableDetails(this.details) }),
    };
  }

  static fromBody(body: ErrorBody): AppError {
    return new AppError(body.code, body.message, {
      disposition: body.disposition,
      ...(body.retryAfterMs === undefined ? {} : { retryAfterMs: body.retryAfterMs }),
      ...(body.details === undefined ? {} : { details: body.details }),
    });
  }
}

/**
 * True for an `AppError` of any copy of this package (`instanceof` is not reliable across packages). Never throws, as a
 * revoked proxy would make it.
 */
export function isAppError(error: unknown): error is AppError {
  try {
    return error instanceof Error && error.name === 'AppError' && 'disposition' in error;
  } catch {
    return false;
  }
}

/** Any thrown value as an `AppError`; what is not one already becomes `fallback`. */
export function toAppError(error: unknown, fallback: ErrorCode = 'INTERNAL'): AppError {
  if (isAppError(error)) return error;
  return new AppError(fallback, messageOf(error), { cause: error });
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'something was thrown that has no text';
  }
}

function dispositionOf(code: string): Disposition {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : 'retryable';
}

function cut(text: string): string {
  const storable = toStorableText(text, MAX_ERROR_MESSAGE);
  return text.length <= MAX_ERROR_MESSAGE ? storable : `${storable}… (${text.length} characters)`;
}

function toWholeMs(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 ? Math.min(Math.round(ms), Number.MAX_SAFE_INTEGER) : undefined;
}
