import { type Forgotten, forgetFinished } from '@cleanslate/store';
import { expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// Retention finds what is old among all that is not.

const YOUNG = 3_000;
const OLD = 5;
const DAYS = 90;

test('what is kept long enough goes, and only that is read: tasks with their events, and events of submits that were refused', async () => {
  await using ledger = await openLedger({ bitmapScans: false, planOnce: true });
  await ledger.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  // Of a tenant that keeps them for longer.
  await ledger.sql(`INSERT INTO ledger.tenants (tenant_id, retain_days) VALUES ('keeper', 1000)`);
  await addTasks(ledger, 'keeper', 'kept', OLD, 200);
  await addTasks(ledger, 'acme', 'old', OLD, 100);
  await addEvents(ledger, 'refused', OLD, 100);
  await addTasks(ledger, 'acme', 'young', YOUNG, 80);
  await addEvents(ledger, 'refused-lately', OLD, 80);
  await ledger.sql('UPDATE ledger.published SET position = (SELECT max(position) FROM ledger.events)');
  await ledger.sql('ANALYZE ledger.tasks, ledger.events');
  const forget = () =>
    ledger.commit(async (tx) => {
      const forgotten = await forgetFinished(tx, DAYS, 100);
      const { rows } = await tx.query<{ n: number }>(
        `SELECT sum(pg_stat_get_xact_tuples_returned(oid))::int4 AS n FROM pg_class WHERE relnamespace = 'ledger'::regnamespace AND relname ~ '^(tasks|events)'`,
      );
      return { ...forgotten, read: rows[0]?.n };
    });
  const none: Forgotten = { tasks: 0, events: 0, objects: 0, requests: 0 };
  const few = expect.toSatisfy((read: number) => read < 300, 'reads few rows');
  expect(await forget()).toEqual({ ...none, tasks: OLD, events: 2 * OLD, read: few });
  expect(await forget()).toEqual({ ...none, read: few });
  expect(
    await ledger.sql(
      `SELECT split_part(task_id, '-', 1) AS name, count(*)::int4 AS n FROM ledger.events GROUP BY 1 ORDER BY min(position)`,
    ),
  ).toEqual([
    { name: 'kept', n: OLD },
    { name: 'young', n: YOUNG },
    { name: 'refused', n: OLD },
  ]);
});

/** Finished ones, with an event each. */
async function addTasks(
  ledger: LedgerDatabase,
  tenant: string,
  name: string,
  count: number,
  days: number,
): Promise<void> {
  // Finished at once, which the ledger forbids.
  await ledger.sql('ALTER TABLE ledger.tasks DISABLE TRIGGER USER');
  await ledger.sql(
    `INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     SELECT $1, $2 || '-' || n, '', '', 'w', 'p', 'completed', 1, 1, 0, '{}', now(), 0, now(), 1, at, at
     FROM generate_series(1, $3::int4) n, (SELECT now() - make_interval(days => $4) AS at) a`,
    [tenant, name, count, days],
  );
  await ledger.sql('ALTER TABLE ledger.tasks ENABLE TRIGGER USER');
  await addEvents(ledger, name, count, days, tenant);
}

async function addEvents(
  ledger: LedgerDatabase,
  name: string,
  count: number,
  days: number,
  tenant = 'acme',
): Promise<void> {
  await ledger.sql(
    `INSERT INTO ledger.events (position, tenant_id, task_id, envelope, created_at)
     SELECT m.last + n, $1, $2 || '-' || n, '{}', now() - make_interval(days => $4)
     FROM generate_series(1, $3::int4) n, (SELECT coalesce(max(position), 0) AS last FROM ledger.events) m`,
    [tenant, name, count, days],
  );
}
