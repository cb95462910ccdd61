import { AppError, Cursor, type Envelope } from '@cleanslate/contracts';

/** Before the first event. */
export const START: Cursor = { epoch: 1, position: 0 };

/** Positions only grow within an epoch; a restored ledger starts a higher epoch, maybe at a lower position. */
export function isAfter(a: Cursor, b: Cursor): boolean {
  return a.epoch === b.epoch ? a.position > b.position : a.epoch > b.epoch;
}

/** True if nothing can lie between the two. */
export function isNext(a: Cursor, b: Cursor): boolean {
  return a.epoch === b.epoch && a.position === b.position + 1;
}

/** The position of a committed event; undefined for a message that no ledger numbered. */
export function findCursor(event: Envelope): Cursor | undefined {
  if (event.epoch === undefined || event.sequence === undefined) return undefined;
  return { epoch: event.epoch, position: Number(event.sequence) };
}

/** `<epoch>-<position>`: what HTTP clients send back as `Last-Event-ID`. */
export function formatCursor(cursor: Cursor): string {
  return `${cursor.epoch}-${cursor.position}`;
}

/** Throws `INVALID_INPUT`, naming where the text came from. */
export function parseCursor(text: string, what = 'cursor'): Cursor {
  const [, epoch, position] = /^([1-9][0-9]{0,14})-([0-9]{1,15})$/.exec(text.trim()) ?? [];
  const parsed = Cursor.safeParse({ epoch: Number(epoch), position: Number(position) });
  if (parsed.success) return parsed.data;
  throw new AppError(
    'INVALID_INPUT',
    `${what} must be <epoch>-<position>, such as 1-42: send back the id you were given`,
  );
}
