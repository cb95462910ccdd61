import type { AppError } from '@cleanslate/contracts';
import { toNetworkError } from '../http/network-error.ts';
import { sourceError } from '../source-error.ts';

/** The server's refusal, by SQLSTATE. Its message may quote values and names of its tables: it stays the cause. */
export function toSqlError(source: string, error: unknown): AppError {
  const state = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const options = { cause: error, details: { sqlState: state } };
  if (state === '57014')
    return sourceError('SOURCE_TIMEOUT', source, 'took longer than the database was told it may', options);
  if (state === '25006' || state === '25001')
    return sourceError('SOURCE_FORBIDDEN', source, 'tried to write: only what reads may be asked', options);
  if (state === '42501')
    return sourceError('SOURCE_FORBIDDEN', source, 'may not read that: grant SELECT to its login', options);
  if (/^28/.test(state))
    return sourceError('SOURCE_FORBIDDEN', source, 'was refused by the database: check its login', options);
  if (/^22/.test(state))
    return sourceError('SOURCE_BAD_ANSWER', source, `got a value that the query can't take (${state})`, {
      ...options,
      disposition: 'terminal',
    });
  if (/^(?:42|0A)/.test(state))
    return sourceError('SOURCE_BAD_ANSWER', source, `has a query that the database can't run (${state}): check it`, {
      ...options,
      disposition: 'terminal',
    });
  if (/^[0-9A-Z]{5}$/.test(state))
    return sourceError('SOURCE_UNAVAILABLE', source, `is not served by its database (${state})`, options);
  if (state === '' && error instanceof Error && /timeout/i.test(error.message))
    return sourceError('SOURCE_TIMEOUT', source, 'gave no connection in time', options);
  return toNetworkError(source, error);
}
