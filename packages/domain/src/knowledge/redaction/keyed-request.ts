import { createHmac } from 'node:crypto';

/** Replaces a request's unkeyed hash; recognised by its beginning. */
export function toKeyedRequest(key: Uint8Array, bodyHash: string): string {
  return `keyed:${hashKeyed(key, 'request', bodyHash)}`;
}

/** With a secret of the tenant: what people want forgotten is often short enough to be guessed. */
export function hashKeyed(key: Uint8Array, kind: string, text: string): string {
  return createHmac('sha256', key).update(`${kind}\u001f${text}`).digest('hex');
}
