import { sourceError } from '../source-error.ts';
import type { FetchAnswer } from './guarded-fetch.ts';

const LONGEST_WAIT_MS = 300_000;

/**
 * Throws for anything but success, with what the status means for a caller: 401 and 403 need a person, 429 and 5xx
 * pass. The body is not passed on.
 */
export function checkStatus(source: string, { status, headers }: FetchAnswer): void {
  if (status >= 200 && status < 300) return;
  if (status === 401 || status === 403)
    throw sourceError(
      'SOURCE_FORBIDDEN',
      source,
      `refused its credentials (${status}): check them and what they may read`,
    );
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const retryAfterMs = readRetryAfter(headers['retry-after']);
    throw sourceError(
      'SOURCE_UNAVAILABLE',
      source,
      `answered ${status}`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  throw sourceError('SOURCE_BAD_ANSWER', source, `answered ${status}: check its url`, {
    disposition: 'terminal',
    details: { status },
  });
}

/** Seconds or a date (RFC 9110). */
function readRetryAfter(value: string | string[] | undefined): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, LONGEST_WAIT_MS) : undefined;
}
