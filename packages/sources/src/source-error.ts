import { AppError, type AppErrorOptions } from '@cleanslate/contracts';

export type SourceErrorCode =
  | 'SOURCE_UNKNOWN'
  | 'SOURCE_FORBIDDEN'
  | 'SOURCE_TOO_LARGE'
  | 'SOURCE_TIMEOUT'
  | 'SOURCE_UNAVAILABLE'
  | 'SOURCE_BAD_ANSWER';

/**
 * What a source failed with, for a person: which one, what happened, what to do. Neither an answer's text nor an address, a user or a key goes into it: the message is
 * stored with the task.
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
