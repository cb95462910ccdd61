import { AppError } from '@cleanslate/contracts';

/** Where a listing continues: the last row's time in full precision, and its id. Opaque to clients. */
export type PageKey = { readonly at: string; readonly id: string };

export function toPageToken(key: PageKey): string {
  return `${key.at}~${key.id}`;
}

/** Throws `INVALID_INPUT` for text that no listing returned. */
export function parsePageToken(token: string, idPattern: RegExp): PageKey {
  const [, at = '', id = ''] = /^([0-9T:.+ -]{10,40})~(.{1,250})$/.exec(token) ?? [];
  if (at !== '' && !Number.isNaN(Date.parse(at)) && idPattern.test(id)) return { at, id };
  throw new AppError('INVALID_INPUT', 'not a page token: send back the "next" of the page before, unchanged');
}

/**
 * For a listing by number, newest first: the number of the last row. Throws `INVALID_INPUT` as above; without one, the
 * listing starts at the newest.
 */
export function parsePosition(token: string | undefined, first = Number.MAX_SAFE_INTEGER): number {
  if (token === undefined) return first;
  if (/^[0-9]{1,15}$/.test(token)) return Number(token);
  throw new AppError('INVALID_INPUT', 'not a page token: send back the "next" of the page before, unchanged');
}
