import { type Database, openDatabase, readEvents, withTransaction } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let database: TestDatabase;
let reader: Database;
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
  reader = openDatabase({ url: database.urlOf('cleanslate_gateway'), applicationName: 'test' });
});
afterAll(async () => {
  await reader?.close();
  await database?.[Symbol.asyncDispose]();
});

async function commit(position: number | null, epoch: number, tenantId = 'acme', taskId = 't'): Promise<void> {
  const envelope = {
    specversion: '1.0',
    id: `${epoch}-${position}`,
    source: '/test',
    type: 'task.transitioned.v1',
    time: '2026-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    tenantid: tenantId,
    taskid: taskId,
    epoch,
    data: {},
  };
  await database.sql('INSERT INTO ledger.events (position, tenant_id, task_id, envelope) VALUES ($1, $2, $3, $4)', [
    position,
    tenantId,
    taskId,
    envelope,
  ]);
  await database.sql('UPDATE ledger.meta SET epoch = $1, position = greatest(position, coalesce($2, 0))', [
    epoch,
    position,
  ]);
}

const read = (query: Parameters<typeof readEvents>[1], tenantId = 'acme') =>
  withTransaction(reader, { role: 'cleanslate_gateway', tenantId, readOnly: true }, (tx) => readEvents(tx, query));
const positions = async (query: Parameters<typeof readEvents>[1]) =>
  (await read(query)).events.map((event) => event.sequence);

test('pages, other tenants in between, events that have no number yet, and a restored ledger that counts from lower', async () => {
  for (const [position, tenant] of [
    [1, 'acme'],
    [2, 'globex'],
    [3, 'acme'],
    [4, 'acme'],
  ] as const)
    await commit(position, 1, tenant);
  await commit(null, 1);
  const first = await read({ limit: 2 });
  expect(first.events.map((event) => event.sequence)).toEqual(['1', '3']);
  expect(first.cursor).toEqual({ epoch: 1, position: 3 });
  expect(await read({ after: first.cursor, limit: 2 })).toMatchObject({
    events: [{ sequence: '4' }],
    cursor: { epoch: 1, position: 4 },
  });
  expect(await read({ after: { epoch: 1, position: 4 } }, 'globex')).toMatchObject({
    events: [],
    cursor: { epoch: 1, position: 4 },
  });

  // A watcher saw up to 9 before the ledger was restored to 4; what is written since then is epoch 2.
  await commit(5, 2);
  await commit(6, 2);
  expect(await positions({ after: { epoch: 1, position: 9 } })).toEqual(['5', '6']);
  expect(await positions({ after: { epoch: 2, position: 5 } })).toEqual(['6']);
  // Nobody was given a position that the ledger has not come to: it would be waited for in silence.
  expect(await read({ after: { epoch: 2, position: 6 } })).toMatchObject({ events: [] });
  await expect(read({ after: { epoch: 2, position: 7 } })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('2-7'),
  });
  await expect(read({ after: { epoch: 3, position: 0 } })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});
