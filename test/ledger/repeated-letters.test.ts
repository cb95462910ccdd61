import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Publisher } from '@cleanslate/bus';
import { type DeadLettered, type ErrorBody, HEADERS } from '@cleanslate/contracts';
import { insertMessageLetter } from '@cleanslate/store';
import { startTestBroker, waitFor } from '@cleanslate/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { relaySettlements } from '../../services/scheduler/src/loops/settlement-relay.ts';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// A settlement is said again until the maintainer confirms it: one that it can't carry out is one
// letter, not one for each time.

const SUBJECT = 'cmd.knowledge.acme';
let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger[Symbol.asyncDispose]());
beforeEach(() => ledger.sql('DELETE FROM ledger.dead_letters'));

const letters = () =>
  ledger.sql(
    `SELECT letter_id AS id, status, reason, json_array_length(history) AS failures FROM ledger.dead_letters ORDER BY letter_id`,
  );

function letter(sequence: number, code: ErrorBody['code'], headers: Record<string, string>): DeadLettered {
  return {
    stream: 'COMMANDS',
    streamCreated: '2026-01-01T00:00:00.000Z',
    streamSequence: sequence,
    subject: SUBJECT,
    consumer: 'knowledge-commands',
    headers: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]])),
    body: '',
    deliveries: 5,
    failedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, sequence)).toISOString(),
    error: { code, disposition: 'terminal', message: `failed at ${sequence}` },
  };
}

const fail = (sequence: number, code: ErrorBody['code'], headers: Record<string, string>) =>
  ledger.commit((tx) => insertMessageLetter(tx, letter(sequence, code, headers), 'acme'));

test('B14: what is said again is one letter for each cause; a letter that comes twice adds nothing', async () => {
  const again = { [HEADERS.repeats]: 'settle.t-1' };
  await fail(1, 'INTERNAL', again);
  await fail(2, 'INTERNAL', again);
  await fail(2, 'INTERNAL', again);
  await fail(3, 'SCHEMA_MISMATCH', again);
  await fail(4, 'INTERNAL', { [HEADERS.repeats]: 'settle.t-2' });
  await fail(5, 'INTERNAL', {});
  await fail(6, 'INTERNAL', {});
  const stream = `COMMANDS.${Date.UTC(2026, 0, 1)}`;
  const open = (sequence: number, reason: string, failures: number) => ({
    id: `${stream}.${sequence}`,
    status: 'open',
    reason,
    failures,
  });
  expect(await letters()).toEqual([
    open(1, 'INTERNAL', 2),
    open(3, 'SCHEMA_MISMATCH', 1),
    ...[4, 5, 6].map((sequence) => open(sequence, 'INTERNAL', 1)),
  ]);
});

test('B14: two schedulers that take in what was said twice at the same time make one letter of it', async () => {
  const again = { [HEADERS.repeats]: 'settle.t-1' };
  const release = Promise.withResolvers<void>();
  const wrote = Promise.withResolvers<void>();
  const first = ledger.commit(async (tx) => {
    await insertMessageLetter(tx, letter(1, 'INTERNAL', again), 'acme');
    wrote.resolve();
    await release.promise;
  });
  await wrote.promise;
  let over = false;
  const second = fail(2, 'INTERNAL', again).finally(() => {
    over = true;
  });
  // It may go on only once the first is committed.
  await waitFor('the second to wait, or to be through', async () => {
    const [row] = await ledger.sql<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS waits`,
    );
    return over || row?.waits === true;
  });
  release.resolve();
  await Promise.all([first, second]);
  expect(await letters()).toMatchObject([{ status: 'open', reason: 'INTERNAL', failures: 2 }]);
});

test('one that was discarded stays so, and one that was carried out and fails anew is a new letter', async () => {
  const again = { [HEADERS.repeats]: 'settle.t-1' };
  await fail(1, 'INTERNAL', again);
  await ledger.sql(`UPDATE ledger.dead_letters SET status = 'discarded', settled_at = now()`);
  await fail(2, 'INTERNAL', again);
  expect(await letters()).toMatchObject([{ status: 'discarded', failures: 2 }]);
  await ledger.sql(`UPDATE ledger.dead_letters SET status = 'closed', outcome = 'succeeded'`);
  await fail(3, 'INTERNAL', again);
  expect(await letters()).toMatchObject([{ status: 'closed' }, { status: 'open', failures: 1 }]);
});

test('a settlement says each time what it repeats', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'repeated-letters-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const broker = stack.use(await startTestBroker(dir));
  const scheduler = stack.use(await broker.connect({ kind: 'scheduler' }));
  await ledger.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  const settle = { taskId: 't-1', verdict: 'passed', validatorScore: 1, claims: [], reads: [], answer: null };
  await ledger.sql(
    `WITH added AS (
       INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
         pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       VALUES ('acme', 't-1', '', '', 'w', 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now()) RETURNING task_seq
     )
     INSERT INTO ledger.settlements (task_seq, tenant_id, task_id, body, due_at) SELECT task_seq, 'acme', 't-1', $1, now() FROM added`,
    [JSON.stringify(settle)],
  );
  const publisher = new Publisher(scheduler);
  for (let times = 0; times < 2; times++) {
    await ledger.sql('UPDATE ledger.settlements SET due_at = now()');
    await relaySettlements(ledger.database, publisher, 1);
  }
  const admin = stack.use(await broker.connect({ kind: 'admin' }));
  const { streams } = await jetstreamManager(admin.raw, { checkAPI: false });
  for (const seq of [1, 2]) {
    const said = await streams.getMessage('COMMANDS', { seq });
    expect([said?.subject, said?.header.get(HEADERS.repeats)]).toEqual([SUBJECT, 'settle.t-1']);
  }
});
