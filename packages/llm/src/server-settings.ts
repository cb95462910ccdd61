import { z } from 'zod';

/** Where a server's paths are appended. `keyName`: the setting for its key. */
export function serverUrl(keyName: string) {
  const text = `must be a URL that starts with http:// or https://, without user, password, query or fragment: a key belongs in ${keyName}`;
  return z.string().refine(isBase, text);
}

/** `fetch` refuses URLs with a login, and headers with a line break, in words that repeat them. */
function isBase(text: string): boolean {
  const url = /^https?:\/\/\S+$/.test(text) ? URL.parse(text) : null;
  return url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
}

/** As it can be sent; what is read from a file may end in a line break. */
export const serverKey = z
  .string()
  .trim()
  .regex(
    /^[\x21-\x7e\xa1-\xff]+$/,
    'must be Latin letters, digits and signs without blanks or line breaks, as it goes into an HTTP header',
  );

/** `fetch` that takes a redirect for the answer: neither key nor text go to another place than the configured one. */
export const fetchThere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' });

/** The host that a redirect names; its path may hold anything. Empty if it names none. */
export function toElsewhere(headers: Headers | undefined): string {
  const location = URL.parse(headers?.get('location') ?? '');
  return location === null ? '' : ` to ${location.protocol}//${location.host.slice(0, 200)}`;
}
