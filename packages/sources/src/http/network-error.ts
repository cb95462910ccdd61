import { type AppError, isAppError } from '@cleanslate/contracts';
import { sourceError } from '../source-error.ts';

/**
 * The failure of a request as the code of a source. Only the code of the original is passed on: its text names
 * addresses.
 */
export function toNetworkError(source: string, error: unknown): AppError {
  if (isAppError(error)) return error;
  const code = codeOf(error);
  if (code.endsWith('_TIMEOUT') || code === 'ETIMEDOUT')
    return sourceError('SOURCE_TIMEOUT', source, `did not answer in time (${code})`, { cause: error });
  const what = code.startsWith('HPE_') ? 'does not speak HTTP' : 'can not be reached';
  return sourceError('SOURCE_UNAVAILABLE', source, `${what} (${code})`, { cause: error });
}

/** The error's code; if several connections were tried, the first one's. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown';
}
