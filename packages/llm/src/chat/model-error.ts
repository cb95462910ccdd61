import { AppError, isAppError } from '@cleanslate/contracts';
import { DEFAULT_SENSITIVE, maskSensitive } from '@cleanslate/domain';
import { APIConnectionError } from 'openai';
import { toElsewhere } from '../server-settings.ts';
import { readRetryAfter } from './retry-after.ts';

/** As the client throws it. */
export type HttpFault = {
  /** The HTTP status of the answer, or the equivalent of an error in a stream. */
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly headers: Headers | undefined;
  /** The server's words, some hundred characters at most. */
  readonly words: string;
  /** Why there was no answer: `ECONNREFUSED` and the like. */
  readonly causes: readonly string[];
};

const MAX_WORDS = 300;
/** Words of ours that a server repeats: long enough not to be a coincidence. */
const ECHO = 24;
const TOO_LONG =
  /context[ _]length|context[ _]window|maximum context|prompt (?:is )?too long|too many tokens|exceeds? .{0,40}context/i;

/** Errors of connections that were never made: names, routes, certificates. */
const NEVER_REACHED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EPROTO|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;
/** Errors of connections that the other side ended. */
const CUT_OFF = /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/;
const MAX_CAUSES = 5;

/**
 * Whether a request that ended like this costs money: a host that answers with a status bills nothing, nor does one
 * that was never reached. A connection that was cut before any headers is a balancer without a host behind it: if it
 * were charged, every retry of an outage would cost a prompt.
 */
export function isBilled(error: unknown): boolean {
  // A page for people in place of an answer.
  if (isAppError(error) && error.code === 'CONFIGURATION') return false;
  if (typeof (error as { readonly status?: unknown } | null)?.status === 'number') return false;
  const codes = codesOf(error);
  // The client throws it only before there are headers; whatever ends a stream arrives unchanged.
  if (error instanceof APIConnectionError && codes.some((code) => CUT_OFF.test(code))) return false;
  return !codes.some((code) => NEVER_REACHED.test(code));
}

/** From an error and its causes: the client says no more than "Connection error". */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === 'object' && cause !== null; depth++) {
    const { code, cause: next } = cause as { readonly code?: unknown; readonly cause?: unknown };
    // A server's own code may be anything.
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) codes.push(code);
    cause = next;
  }
  return codes;
}

export function readFault(error: unknown): HttpFault {
  const { status, code, type, headers, message } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  const words = typeof message === 'string' ? message.slice(0, 4 * MAX_WORDS) : '';
  // From a body that was cut, the code may still be read.
  const found = typeof code === 'string' ? code : /"code"\s{0,3}:\s{0,3}"(\w{1,60})"/.exec(words)?.[1];
  return {
    status: typeof status === 'number' ? status : toStatus([code, type]),
    code: found,
    words,
    causes: codesOf(error),
    headers: headers instanceof Headers ? headers : undefined,
  };
}

/** What servers call an error inside a stream whose own status was 200. */
const STATUS_OF_NAME: readonly (readonly [RegExp, number])[] = [
  [/^(?:invalid_request_error|BadRequestError|context_length_exceeded|content_(?:filter|policy_violation))$/, 400],
  [/^(?:rate_limit\w*|insufficient_quota)$/, 429],
];

function toStatus(names: readonly unknown[]): number | undefined {
  for (const name of names) {
    const number = typeof name === 'string' && /^[0-9]{3}$/.test(name) ? Number(name) : name;
    if (typeof number === 'number' && number >= 400 && number < 600) return number;
    const known = STATUS_OF_NAME.find(([pattern]) => typeof name === 'string' && pattern.test(name));
    if (known !== undefined) return known[1];
  }
  return undefined;
}

/**
 * The error as it is stored: the status and a few words of the server's, none of them a repetition of the prompt. Its
 * cause, which holds headers and bodies, is left out.
 */
export function toModelError(fault: HttpFault, model: string, prompt: string): AppError {
  const { status, code, words } = fault;
  const says = toSayable(words, prompt);
  const retryAfterMs = readRetryAfter(fault.headers);
  const after = retryAfterMs === undefined ? {} : { retryAfterMs };
  const name = `model "${model}"`;
  if (status === undefined) {
    const [why] = fault.causes;
    const because = why === undefined ? '' : ` (${why})`;
    return new AppError('MODEL_UNAVAILABLE', `${name}: no answer from its server${says}${because}`);
  }
  if (status >= 300 && status < 400)
    return new AppError(
      'CONFIGURATION',
      `${name}: its server sends requests on${toElsewhere(fault.headers)} (${status}), and neither key nor prompt follow: set MODEL_URL to where it is`,
      {
        disposition: 'pause',
      },
    );
  if (status === 401 || status === 403)
    // A person must act, and the task is not at fault: it waits.
    return new AppError('CONFIGURATION', `${name}: the server refused the key (${status}): check MODEL_API_KEY`, {
      disposition: 'pause',
    });
  if (status === 404)
    return new AppError('CONFIGURATION', `${name}: nothing there (404): check MODEL and MODEL_URL${says}`, {
      disposition: 'pause',
    });
  if (status === 429) return new AppError('MODEL_RATE_LIMITED', `${name}: too many requests (429)${says}`, after);
  if (status >= 500 || status === 408 || status === 409 || status === 425)
    // This very prompt may cause the 500, so it is not tried for ever.
    return new AppError('MODEL_UNAVAILABLE', `${name}: status ${status}${says}`, {
      ...after,
      ...(status === 500 ? { disposition: 'retryable' as const } : {}),
    });
  if (status === 413 || code === 'context_length_exceeded' || TOO_LONG.test(words))
    return new AppError('MODEL_CONTEXT_TOO_LONG', `${name}: the prompt is longer than its window (${status})${says}`);
  if (/content_(?:policy|filter)/.test(code ?? ''))
    return new AppError('MODEL_REFUSED', `${name}: its filter refuses the prompt (${status})${says}`);
  return new AppError('MODEL_BAD_REQUEST', `${name}: status ${status}${says}`);
}

function toSayable(words: string, prompt: string): string {
  const text = words.slice(0, MAX_WORDS);
  if (text.trim() === '') return '';
  for (let at = 0; at + ECHO <= text.length; at += ECHO / 2)
    if (prompt.includes(text.slice(at, at + ECHO))) return '; its words repeat the prompt, and are left out';
  return `: ${maskSensitive(text.replace(/\s+/g, ' ').trim(), DEFAULT_SENSITIVE)}`;
}
