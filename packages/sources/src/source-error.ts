import { AppError, type AppErrorOptions } from '@cleanslate/contracts';

export type SourceErrorCode =
  | 'SOURCE_UNKNOWN'
  | 'SOURCE_FORBIDDEN'
  | 'SOURCE_TOO_LARGE'
  | 'SOURCE_TIMEOUT'
  | 'SOURCE_UNAVAILABLE'
  | 'SOURCE_BAD_ANSWER';

/**
 * A source's failure, for a person: which source, what happened, what to do. It contains neither an answer's text nor
 * an address, a user or a key: the message is stored with the task.
 */
export function sourceError(
  code: SourceErrorCode,
  source: string,
  what: string,
  options: AppErrorOptions = {},
): AppError {
  return new AppError(code, `source "${source}" ${what}`, { ...options, details: { source, ...options.details } });
}

/** A parameter that the source can't be asked with. */
export function paramError(source: string, param: string, what: string): AppError {
  return new AppError('INVALID_INPUT', `source "${source}", params.${param}: ${what}`, {
    details: { source, field: `params.${param}` },
  });
}
