import { AppError, type ErrorCode, isAppError, type Problem, toAppError, toErrorText } from '@cleanslate/contracts';

const STATUS: Partial<Record<ErrorCode, number>> = {
  UNPARSEABLE: 400,
  UNAUTHORIZED: 401,
  UNKNOWN_TENANT: 403,
  TENANT_MISMATCH: 403,
  NOT_FOUND: 404,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  TENANT_QUEUE_FULL: 429,
  INTERNAL: 500,
};

/**
 * HTTP status of an error: by its code, otherwise by what its disposition lets the client do. A body that is readable
 * but can't be carried out is 422, not 400.
 */
function statusOf(error: AppError, method: string): number {
  if (Object.hasOwn(STATUS, error.code)) return STATUS[error.code as ErrorCode] ?? 500;
  if (error.disposition === 'conflict') return 409;
  if (error.disposition !== 'terminal') return 503;
  return method === 'GET' || error.details?.['in'] === 'url' ? 400 : 422;
}

/** What is away, and no more: the error's own text may contain internal addresses. The log has it. */
const TITLES: Partial<Record<ErrorCode, string>> = {
  INTERNAL: 'the gateway failed; its log says why',
  DATABASE_UNAVAILABLE: 'the database is away',
  BROKER_UNAVAILABLE: 'the message broker is away',
};

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  UNAUTHORIZED: 'send the header `Authorization: Bearer <API key>`',
  NOT_FOUND: 'check the id; the listings show those there are',
  UNKNOWN_WORKFLOW: 'name a workflow that the scheduler has, such as contract-review',
  PAYLOAD_TOO_LARGE: 'send less',
  IDEMPOTENCY_CONFLICT: 'use another key for another request',
  GATE_MISMATCH: 'look at the task again and decide about the result that waits now',
  NEEDS_HUMAN: 'look at the letter, then replay it by itself',
};

function remedyOf(error: AppError, status: number): string {
  const own = toErrorText(error.toBody()).remedy;
  if (own !== undefined) return own;
  if (Object.hasOwn(REMEDIES, error.code)) return REMEDIES[error.code as ErrorCode] ?? '';
  if (status === 503 || status === 500) return 'send it again later, a change with the same Idempotency-Key';
  if (status === 409) return 'look at the present state, then decide again';
  return 'see /openapi.json for what this request takes';
}

function titleOf(error: AppError): string {
  return (Object.hasOwn(TITLES, error.code) && TITLES[error.code as ErrorCode]) || toErrorText(error.toBody()).what;
}

export type Refused = { readonly error: AppError; readonly status: number };

/** RFC 9457. */
export function toProblem({ error, status }: Refused, instance: string, requestId: string): Problem {
  // It has a member of its own.
  const { remedy: _, ...details } = error.details ?? {};
  return {
    type: `urn:cleanslate:error:${error.code}`,
    title: titleOf(error),
    status,
    code: error.code,
    remedy: remedyOf(error, status),
    instance: instance.slice(0, 500),
    requestId,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

/** Anything thrown, with its status. The framework's own refusals keep theirs and get a code of ours. */
export function toRefused(thrown: unknown, method: string, maxBodyBytes: number): Refused {
  const given = thrown instanceof Error && 'statusCode' in thrown ? thrown.statusCode : undefined;
  if (isAppError(thrown))
    return { error: thrown, status: typeof given === 'number' ? given : statusOf(thrown, method) };
  const status = typeof given === 'number' ? given : 500;
  if (status === 413) {
    const text = `the body is larger than ${maxBodyBytes} bytes`;
    return { error: new AppError('PAYLOAD_TOO_LARGE', text), status };
  }
  if (status === 415) {
    return { error: new AppError('INVALID_INPUT', 'send the body as `content-type: application/json`'), status };
  }
  if (status < 500 && thrown instanceof Error) return { error: new AppError('INVALID_INPUT', thrown.message), status };
  const error = toAppError(thrown);
  return { error, status: statusOf(error, method) };
}
