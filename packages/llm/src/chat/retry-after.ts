/** The longest wait in place; a server that wants longer gets its time, but not our slot. */
export const MAX_WAIT_MS = 5_000;
/** A server that asks for days is asked again tomorrow. */
const MAX_DELAY_MS = 86_400_000;
const BACKOFF = { firstMs: 250, maxMs: 4_000 };

/**
 * The wait a server asks for in `retry-after` (seconds or a date) or `retry-after-ms`. Undefined if it says nothing
 * readable.
 */
export function readRetryAfter(headers: Headers | undefined, now = Date.now()): number | undefined {
  const ms = headers?.get('retry-after-ms')?.trim();
  if (ms && /^[0-9]{1,12}$/.test(ms)) return Math.min(Number(ms), MAX_DELAY_MS);
  const text = headers?.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^[0-9]{1,12}(?:\.[0-9]{1,6})?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1_000), MAX_DELAY_MS);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), MAX_DELAY_MS);
}

/** Doubles with each failure; `jitter` in [0, 1) keeps a pool from coming back all at once. */
export function backoffMs(failures: number, jitter: number): number {
  const full = Math.min(BACKOFF.maxMs, BACKOFF.firstMs * 2 ** Math.min(failures - 1, 20));
  return Math.round(full * (0.5 + 0.5 * jitter));
}
