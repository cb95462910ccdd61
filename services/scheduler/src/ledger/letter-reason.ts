import { type ErrorBody, ErrorBody as ErrorBodySchema, toAppError } from '@cleanslate/contracts';
import { scrub } from '@cleanslate/runtime/service';

/** Whatever failed may have echoed a prompt, a stack or a key: a letter keeps at most 8 KB of it, redacted. */
const MAX_MESSAGE = 4_000;
const MAX_DETAILS = 3_500;

/** An error as a dead letter keeps it. */
export function toLetterReason({ code, disposition, message, retryAfterMs, details }: ErrorBody): ErrorBody {
  const kept = details === undefined ? undefined : toKeptDetails(details);
  return {
    code,
    disposition,
    message: cutBytes(scrub(message), MAX_MESSAGE),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(kept === undefined ? {} : { details: kept }),
  };
}

function toKeptDetails(details: Record<string, unknown>): Record<string, unknown> {
  const dropped = { note: 'details were too long for the letter' };
  try {
    const text = scrub(JSON.stringify(details));
    if (Buffer.byteLength(text) > MAX_DETAILS) return lastOf(details) ?? dropped;
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : dropped;
  } catch (error) {
    // What a redaction broke is no JSON any more.
    return { note: toAppError(error).message.slice(0, 200) };
  }
}

/** `ATTEMPTS_EXHAUSTED` carries its last attempt's error: its code matters more than its length. */
function lastOf(details: Record<string, unknown>): Record<string, unknown> | undefined {
  const last = ErrorBodySchema.safeParse(details['last']);
  if (!last.success) return undefined;
  const { code, disposition, message } = last.data;
  return { last: { code, disposition, message: cutBytes(scrub(message), 1_000) } };
}

function cutBytes(text: string, max: number): string {
  if (Buffer.byteLength(text) <= max) return text;
  const cut = new TextDecoder().decode(Buffer.from(text).subarray(0, max)).replace(/\uFFFD+$/, '');
  return `${cut}…`;
}
