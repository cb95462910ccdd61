import { FORBIDDEN_KEYS, findHostile } from './hostile-json.ts';
import { toStorableText } from './storable-text.ts';

/** Most that a message carries inline, in characters. */
const MAX_ERROR_DETAILS = 256 * 1024;
/** Leaves room for what an error is nested in (reply, history, dead letter) below the depth that readers accept. */
const MAX_DETAILS_DEPTH = 32;

/** Details as plain JSON that every reader accepts: storable strings and keys, no cycles, bounded. Never throws. */
export function toStorableDetails(details: Record<string, unknown>): Record<string, unknown> {
  try {
    const text = JSON.stringify(details, (_key, item: unknown) => toStorable(item));
    if (text.length > MAX_ERROR_DETAILS) return { note: `details of ${text.length} characters were dropped` };
    const hostile = findHostile(text, MAX_DETAILS_DEPTH);
    if (hostile !== undefined) return { note: 'details nested too deeply were dropped' };
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // A cycle, a bigint, a `toJSON` that throws: dropped, like any other details that are not JSON.
  }
  return { note: 'details that are not JSON were dropped' };
}

function toStorable(item: unknown): unknown {
  if (typeof item === 'string') return toStorableText(item, MAX_ERROR_DETAILS);
  if (!isRecord(item)) return item;
  const entries = Object.entries(item).map(([key, value]) => [toStorableKey(key), value] as const);
  return Object.fromEntries(entries);
}

function toStorableKey(key: string): string {
  return FORBIDDEN_KEYS.has(key) ? `${key}?` : toStorableText(key, MAX_ERROR_DETAILS);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
