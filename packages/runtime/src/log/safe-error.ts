import { scrub } from './scrub.ts';

/** An error fit for the log: plain, short, without secrets. */
export type SafeError = {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: SafeError;
};

const MAX_TEXT = 4 * 1024;
const MAX_CAUSES = 3;
const OVERLAP = 2_048;
const SAYS_NOTHING = /^(?:null|\[object \w+\])$/;

/**
 * Accepts any thrown value, even one whose getters throw, that is circular, or whose message repeats a 5 MB prompt.
 * Never throws.
 */
export function toSafeError(error: unknown, depth = 0): SafeError {
  const type = read(error, 'name') ?? typeof error;
  const message = read(error, 'message') ?? describe(error);
  const code = read(error, 'code');
  const stack = read(error, 'stack');
  const cause = depth < MAX_CAUSES ? readRaw(error, 'cause') : undefined;
  return {
    type: cut(type, 200),
    message: cut(message, MAX_TEXT),
    ...(code === undefined ? {} : { code: cut(code, 100) }),
    ...(stack === undefined ? {} : { stack: cut(withoutMessage(stack, message), MAX_TEXT) }),
    ...(cause === undefined ? {} : { cause: toSafeError(cause, depth + 1) }),
  };
}

/**
 * What went wrong, in one line: `fetch failed: connect ECONNREFUSED 127.0.0.1:80`. Libraries leave the reason to the
 * cause, and Node leaves out every word where a name had several addresses. Never throws.
 */
export function toReason(error: unknown): string {
  if (error === undefined || error === null) return `${error} was thrown, not an error`;
  const reasons: string[] = [];
  for (let each: SafeError | undefined = toSafeError(error); each !== undefined; each = each.cause) {
    const reason = each.message.trim() === '' ? [each.type, each.code].join(' ').trim() : each.message;
    // A cause that is neither an error nor a text says nothing: "null", "[object Object]".
    if (reasons.length > 0 && SAYS_NOTHING.test(reason)) continue;
    if (!reasons.some((said) => said.includes(reason))) reasons.push(reason);
    // Its message is all that its author wanted to be told.
    if (each.type === 'AppError') break;
  }
  return reasons.join(': ');
}

function readRaw(value: unknown, key: string): unknown {
  try {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  } catch {
    return undefined;
  }
}

function read(value: unknown, key: string): string | undefined {
  const found = readRaw(value, key);
  if (typeof found === 'string') return found;
  return typeof found === 'number' ? String(found) : undefined;
}

function describe(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that can not be shown';
  }
}

/** Node puts the whole message at the head of the stack. */
function withoutMessage(stack: string, message: string): string {
  const at = message === '' ? -1 : stack.slice(0, message.length + 300).indexOf(message);
  return at < 0 ? stack : stack.slice(at + message.length).trimStart();
}

function cut(text: string, max: number): string {
  if (text.length <= max) return scrub(text);
  // A credential that crosses the cut is whole while it is searched for.
  return `${scrub(text.slice(0, max + OVERLAP)).slice(0, max)}… (${text.length} characters)`;
}
