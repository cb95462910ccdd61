import type { Publisher } from '@cleanslate/bus';
import type { Database } from '@cleanslate/store';
import { expect, test } from 'vitest';
import { EventRelay } from './event-relay.ts';

/** A ledger with events that nobody numbered yet; what is asked of it is counted. */
function fakeLedger(numbering: { locked: boolean }) {
  const asked: string[] = [];
  const query = async (query: string | { readonly text: string }) => {
    const text = typeof query === 'string' ? query : query.text;
    asked.push(text);
    if (text.includes("'ledger.published'"))
      return { command: 'SELECT', rows: [{ locked: true, published: 0, before: 0, position: 0, unnumbered: true }] };
    return { command: text, rows: text.includes('pg_try_advisory_xact_lock') ? [numbering] : [] };
  };
  const client = { query, on: () => client, off: () => client, release: () => undefined };
  return { asked, database: { pool: { connect: async () => client } } as unknown as Database };
}

test.each([
  { locked: true, more: true },
  { locked: false, more: false },
])(
  'there may be more only where this one gave out the numbers, or the loop would spin: $locked',
  async ({ locked, more }) => {
    const { asked, database } = fakeLedger({ locked });
    const relay = new EventRelay({ database, publisher: {} as unknown as Publisher, epoch: 1 });
    expect(await relay.run()).toBe(more);
    expect(asked.some((text) => text.includes('UPDATE ledger.events'))).toBe(locked);
  },
);
