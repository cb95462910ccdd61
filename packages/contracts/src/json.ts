import { AppError } from './errors.ts';
import { findHostile, type JsonBounds } from './hostile-json.ts';
import { findInexactNumber } from './inexact-number.ts';
import { toStorableText } from './storable-text.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Deeper nesting is refused before any recursive walk: those overflow the stack from about 10,000 levels. */
export const MAX_JSON_DEPTH = 64;
/** Larger bodies are refused unread; it equals the `max_payload` of the NATS configuration we ship. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Bounds of a message that a client or worker may send. Distinct keys cost most: 400,000 of them held up a service for
 * seconds, this many for some 20 ms. What travels inline (`MAX_INLINE_BYTES`) is shorter than any text that could hold
 * more.
 */
export const MESSAGE_BOUNDS: JsonBounds = { keys: 53_000, values: 150_000 };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Bytes → JSON value. Throws `UNPARSEABLE` (not UTF-8, not JSON, too deep, too large, a key that could reach a
 * prototype, a NUL character or unpaired surrogate, which PostgreSQL can't store; more structure than
 * `bounds`); never overflows the stack.
 */
export function parseJson(bytes: Uint8Array, what = 'body', bounds?: JsonBounds): unknown {
  return parseJsonText(toText(bytes, what), what, bounds);
}

/**
 * As `parseJson`, for what a person or a program of theirs hands in: a number that would silently become another one is
 * refused as well.
 */
export function parseGivenJson(bytes: Uint8Array, what = 'body', bounds?: JsonBounds): unknown {
  const text = toText(bytes, what);
  const value = parseJsonText(text, what, bounds);
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) throw unparseable(`${what} holds ${inexact}: send it as text, in quotes`);
  return value;
}

function toText(bytes: Uint8Array, what: string): string {
  if (bytes.length === 0) throw unparseable(`${what} is empty: send one JSON document`);
  if (bytes.length > MAX_BODY_BYTES) {
    throw new AppError('PAYLOAD_TOO_LARGE', `${what} has ${bytes.length} bytes; at most ${MAX_BODY_BYTES} are read`);
  }
  try {
    return utf8.decode(bytes);
  } catch {
    throw unparseable(`${what} is not UTF-8: encode the JSON text as UTF-8`);
  }
}

/** As `parseJson`, from text. */
export function parseJsonText(text: string, what = 'body', bounds?: JsonBounds): unknown {
  // Bytes can't contain half a pair; text handed in can.
  const hostile = text.isWellFormed()
    ? findHostile(text, MAX_JSON_DEPTH, bounds)
    : 'holds an unpaired surrogate: remove it';
  if (hostile !== undefined) throw unparseable(`${what} ${hostile}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? toStorableText(error.message, 200) : 'syntax error';
    throw unparseable(`${what} is not JSON: ${reason}`);
  }
}

/**
 * JSON with sorted keys: equal values give equal text, so hashes of it can be compared. It drops what `JSON.stringify`
 * drops.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (hasToJson(value)) return canonicalJson(value.toJSON());
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`;
  const items: Readonly<Record<string, unknown>> = { ...value };
  const keys = Object.keys(items).filter((key) => items[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(items[key])}`)
    .join(',')}}`;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function unparseable(message: string): AppError {
  return new AppError('UNPARSEABLE', message);
}
