import { AppError } from '@cleanslate/contracts';

/** What the bus pages by, as one opaque text: nobody builds it by hand, so we may change its content. */
export function toCursor(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('next' in value) || typeof value.next !== 'string') return value;
  return { ...value, next: Buffer.from(value.next, 'utf8').toString('base64url') };
}

/** Throws `INVALID_INPUT` for text that no page returned. */
export function fromCursor(
  { cursor, ...fields }: Record<string, unknown>,
  field: 'before' | 'after',
): Record<string, unknown> {
  if (cursor === undefined) return fields;
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString('utf8') : '';
  // Only what encodes to the very same text was ours.
  if (text !== '' && Buffer.from(text, 'utf8').toString('base64url') === cursor) return { ...fields, [field]: text };
  throw new AppError('INVALID_INPUT', 'cursor: not one of ours', {
    details: { where: 'cursor', remedy: 'send back the "next" of the page before, unchanged' },
  });
}
