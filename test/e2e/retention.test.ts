import { forgetFinished, openDatabase, withTransaction } from '@cleanslate/store';
import { type Platform, startPlatform } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(() => platform[Symbol.asyncDispose]());

const document = (text: string) => ({ document: { name: 'c.md', mediaType: 'text/markdown', text } });

test('finished tasks go after their retention with steps, events and objects; others, and failed ones with an open letter, stay', async () => {
  const client = await platform.client();
  const { sql } = platform.database;
  const submit = async (text: string) =>
    (await client.submit({ workflow: 'contract-review', input: document(text) })).taskId;
  const old = await submit('Payment is due within thirty (30) days.');
  const oldFailed = await submit('Payment is due within sixty (60) days.');
  const young = await submit('Payment is due within ninety (90) days.');
  for (const taskId of [old, oldFailed, young]) await client.result(taskId);
  await sql(
    `UPDATE ledger.tasks SET updated_at = now() - interval '100 days', created_at = now() - interval '101 days' WHERE task_id = ANY($1)`,
    [[old, oldFailed]],
  );
  await sql(
    `UPDATE ledger.objects SET created_at = now() - interval '101 days' WHERE bytes = convert_to('Payment is due within thirty (30) days.', 'UTF8')`,
  );
  await sql(
    `INSERT INTO ledger.dead_letters (letter_id, tenant_id, task_id, step_id, attempt, headers, reason, error, history, first_failed_at, last_failed_at)
     VALUES ('l', 'acme', $1, 'analyze', 1, '{}', 'X', '{}', '[]', now(), now())`,
    [oldFailed],
  );
  await using database = openDatabase({
    url: platform.database.urlOf('cleanslate_scheduler'),
    applicationName: 'test',
  });
  const forget = () => withTransaction(database, { role: 'cleanslate_scheduler' }, (tx) => forgetFinished(tx, 90, 100));

  expect(await forget()).toMatchObject({ tasks: 1 });
  expect(
    (await sql<{ task_id: string }>('SELECT task_id FROM ledger.tasks ORDER BY task_seq')).map((row) => row.task_id),
  ).toEqual([oldFailed, young]);
  expect(await sql('SELECT FROM ledger.events WHERE task_id = $1', [old])).toEqual([]);
  expect(
    await sql(`SELECT FROM ledger.steps s WHERE NOT EXISTS (SELECT FROM ledger.tasks t WHERE t.task_seq = s.task_seq)`),
  ).toEqual([]);
  // The failed one is the oldest that is left, and as old: its use of objects still counts.
  await sql(`UPDATE ledger.dead_letters SET status = 'discarded' WHERE letter_id = 'l'`);
  expect(await forget()).toMatchObject({ tasks: 1 });
  expect(await forget()).toMatchObject({ tasks: 0, objects: 0 });
  expect(
    await sql(`SELECT FROM ledger.objects WHERE bytes = convert_to('Payment is due within thirty (30) days.', 'UTF8')`),
  ).toEqual([]);
  expect((await client.task(young)).state).toBe('completed');
});
