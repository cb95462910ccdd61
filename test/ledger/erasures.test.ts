import { beginErasure, type Database, noteLook, openDatabase, type Tx, withTransaction } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase(inject('postgresAdminUrl'));
  database = openDatabase({ url: server.urlOf('cleanslate_scheduler'), applicationName: 'test' });
});
afterAll(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});

const commit = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(database, { role: 'cleanslate_scheduler' }, work);

/** A redaction as the maintainer writes it down. */
async function redact(tenantId: string, phrase: string): Promise<number> {
  const [row] = await server.sql<{ id: string }>(
    `INSERT INTO knowledge.redactions (tenant_id, knowledge_id, versions, revision, reason, redacted_by, redacted_at, source_message_id, phrases, hashes)
     VALUES ($1, 'fact-1', '{1}', 1, 'ticket 1', 'maria', now(), $2, ARRAY[$2], '{}') RETURNING redaction_id AS id`,
    [tenantId, phrase],
  );
  return Number(row?.id);
}

test('a redaction that fails whenever it is looked for holds up no other: each has its turn', async () => {
  const failing = await redact('acme', 'one');
  const others = [await redact('globex', 'two'), await redact('acme', 'three')];
  const taken: (number | undefined)[] = [];
  for (let turn = 1; turn <= 7; turn++) {
    const { next, open } = await commit(beginErasure);
    taken.push(next?.redactionId);
    expect(open).toContain(failing);
    // The first never gets that far.
    if (next !== undefined && next.redactionId !== failing)
      await commit((tx) => noteLook(tx, next, { waitsFor: [], found: false, done: turn > 4 }));
  }
  expect(taken).toEqual([failing, ...others, failing, ...others, failing]);
  expect(await commit(beginErasure)).toMatchObject({ next: { phrases: ['one'], looked: false }, open: [failing] });
  await commit((tx) => noteLook(tx, { redactionId: failing }, { waitsFor: [], found: false, done: true }));
  expect(await commit(beginErasure)).toEqual({ next: undefined, open: [] });
});
