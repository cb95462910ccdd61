import { DEFAULT_SENSITIVE, maskSensitive } from '@cleanslate/domain/ledger';
import { hideKnown } from './known-secrets.ts';

/**
 * Replaces known secrets, what looks like a credential, and what identifies people, in linear time. NUL is replaced
 * too: PostgreSQL can't store it and the platform's JSON reader refuses it.
 */
export function scrub(text: string): string {
  const known = hideKnown(text)
    .replaceAll('\0', '\u{fffd}')
    // In a log line even a short value after such a name is taken for a secret; in knowledge it is a sentence.
    .replace(
      /\b((?:api[-_]?key|password|passwd|secret|token)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;&]{4,500}/gi,
      '$1[redacted]',
    );
  return maskSensitive(known, DEFAULT_SENSITIVE);
}
