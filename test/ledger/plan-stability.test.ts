import {
  accept,
  type Change,
  type Decided,
  decide,
  defineWorkflow,
  toOutgoing,
  toTransition,
} from '@cleanslate/domain';
import {
  applyHeartbeats,
  type Changes,
  type Database,
  findDueClaims,
  findDueInputs,
  findDueRings,
  findEventsAfter,
  findKnownSubmits,
  findReady,
  loadForUpdate,
  noteDoorbells,
  numberEvents,
  openDatabase,
  PlanCache,
  type StoredAggregate,
  saveChanges,
  setNextLooks,
  type Tx,
  takeRoom,
  takeTaskSeqs,
  upsertPlan,
  withTransaction,
} from '@cleanslate/store';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { describe, expect, inject, test } from 'vitest';
import { z } from 'zod';

// PostgreSQL plans a statement by statistics of some moment, and keeps that plan. Tables of the ledger are empty on the
// first day, and phases are empty at any quiet second in which they are analyzed. (Seen: one such plan for the mark of
// sent doorbells took three times as much of the server as all other statements together, until the next analysis.)

const EPOCH = 1;
const OPTIONS = { leaseMs: 30_000, admissionLookMs: 10_000, ringCheckMs: 30_000, maxRings: 20, silentClaims: 3 };
/**
 * Tasks of a batch, and what its statements may read of each index or table for one of them, row
 * versions of its own among it.
 */
const BATCH = 20;
const ENTRIES_A_TASK = 100;
const PAGES_A_TASK = 60;
/** Of each kind that is in the ledger beside them: one look at all of a kind is one too many. */
const OTHERS = 3_000;
const role = 'analyzer';
const { plan, planHash } = defineWorkflow({
  name: 'two-steps',
  input: z.strictObject({}),
  steps: {
    a: { role, executor: 'test/a', after: [], input: {} },
    b: { role, executor: 'test/b', after: ['a'], input: {} },
  },
  result: 'steps.b.output',
});

const MOMENTS: Record<string, (database: TestDatabase) => Promise<unknown>> = {
  'never analyzed': async () => undefined,
  'analyzed while they were empty': (database) => analyze(database),
  'analyzed while nothing was in motion': async (database) => {
    await addTasks(database, 'done', OTHERS);
    await addTasks(database, 'dispatched', 100);
    await finish(database);
    await analyze(database);
  },
  'analyzed while much was in motion': async (database) => {
    await addTasks(database, 'dispatched', OTHERS);
    await addTasks(database, 'ready', OTHERS);
    await analyze(database);
  },
};

describe.each(Object.entries(MOMENTS))('with plans of tables that were %s', (_, begin) => {
  test('the statements of a batch read the rows of its tasks, and no others', async () => {
    await using server = await createTestDatabase(inject('postgresAdminUrl'));
    // One connection: what is planned once stays planned.
    const url = server.urlOf('cleanslate_scheduler');
    await using opened = openDatabase({
      url,
      applicationName: 'test',
      poolSize: 1,
      bitmapScans: false,
      planOnce: true,
    });
    await begin(server);
    await runBatch(opened, 'first', 2);
    await addTasks(server, 'done', OTHERS);
    await addTasks(server, 'ready', OTHERS);
    await addTasks(server, 'dispatched', OTHERS);
    const read = await runBatch(opened, 'second', BATCH);
    // Steps in flight are counted, once.
    const mayRead = (what: string) =>
      what === 'steps_motion' ? 2.5 * OTHERS : BATCH * (what.startsWith('pages') ? PAGES_A_TASK : ENTRIES_A_TASK);
    expect([...read].filter(([what, n]) => n > mayRead(what))).toEqual([]);
  });
});

/**
 * What becomes of tasks from their submit to their end, with everything that looks at them on
 * the way. Returns what was read.
 */
async function runBatch(database: Database, name: string, count: number): Promise<ReadonlyMap<string, number>> {
  const read = new Map<string, number>();
  const commit = <T>(work: (tx: Tx) => Promise<T>) =>
    withTransaction(database, { role: 'cleanslate_scheduler' }, async (tx) => {
      const before = await countReads(tx);
      const result = await work(tx);
      for (const [name, n] of await countReads(tx)) read.set(name, (read.get(name) ?? 0) + n - (before.get(name) ?? 0));
      return result;
    });
  const plans = new PlanCache();
  plans.add(planHash, plan);
  const keys = Array.from({ length: count }, (_, i) => ({ tenantId: 'acme', taskId: `${name}-${i}` }));
  const line = { role, tenantId: 'acme', workflow: plan.workflow };
  const dispatched = await commit(async (tx) => {
    await upsertPlan(tx, planHash, plan.workflow, plan);
    await findKnownSubmits(
      tx,
      keys.map((key) => ({ ...key, key: `key-${key.taskId}` })),
    );
    const now = Date.now();
    const pin = { validAt: new Date(now).toISOString(), revision: 0 };
    const submission = { submitId: 's', bodyHash: 'h', planHash, plan, pin, traceparent: null };
    const submit = { workflow: plan.workflow, input: {} };
    const begun = keys.map((key) =>
      then(
        accept(EPOCH, { ...submission, ...key, submit: { ...submit, key: `key-${key.taskId}` } }, now, OPTIONS),
        now,
        [{ kind: 'dispatch', stepId: 'a' }],
      ),
    );
    const seqs = await takeTaskSeqs(tx, begun.length);
    await takeRoom(tx, [line]);
    await saveChanges(
      tx,
      toChanges(
        begun.map((decided, i) => ({ before: null, taskSeq: seqs[i] ?? 0, decided })),
        now,
      ),
    );
    return seqs;
  });
  await commit((tx) =>
    noteDoorbells(
      tx,
      dispatched.map((taskSeq, i) => ({ taskSeq, stepId: 'a', attempt: 1, ring: 1, streamSequence: i + 1 })),
    ),
  );
  const move = (toInputs: (taskId: string) => Parameters<typeof decide>[1][]) =>
    commit(async (tx) => {
      const { now, aggregates } = await loadForUpdate(tx, EPOCH, keys, plans);
      const moved = [...aggregates.values()].map((before) => {
        const decided = then({ state: before.state, changes: [] }, now, toInputs(before.state.task.taskId));
        return { before, taskSeq: before.taskSeq, decided };
      });
      return await saveChanges(tx, toChanges(moved, now));
    });
  await move((taskId) => [
    { kind: 'claim', fence: toFence(taskId, 'a'), worker: 'w' },
    {
      kind: 'report',
      fence: toFence(taskId, 'a'),
      report: { outcome: 'succeeded', output: {}, usage: { durationMs: 1 }, candidates: [] },
    },
    { kind: 'dispatch', stepId: 'b' },
  ]);
  await move((taskId) => [{ kind: 'claim', fence: toFence(taskId, 'b'), worker: 'w' }]);
  await commit(async (tx) => {
    const running = keys.map(({ taskId }) => toFence(taskId, 'b'));
    await applyHeartbeats(tx, EPOCH, [{ worker: 'w', role, slots: 50, free: 0, running, reported: [] }], 60_000);
    await setNextLooks(tx);
    await findReady(tx, [line], 4);
    await findDueInputs(tx, 100);
    await findDueClaims(tx, 100);
    await findDueRings(tx, 100);
    await numberEvents(tx, 100);
    await findEventsAfter(tx, 0, 4);
  });
  await move(() => [{ kind: 'cancel', reason: 'x' }]);
  return read;
}

function then(begun: Decided, now: number, inputs: readonly Parameters<typeof decide>[1][]): Decided {
  return inputs.reduce<Decided>((so, input) => {
    const { state, changes } = decide(so.state, input, now, OPTIONS);
    return { state, changes: [...so.changes, ...changes] };
  }, begun);
}

function toFence(taskId: string, stepId: string) {
  return { epoch: EPOCH, tenantId: 'acme', taskId, stepId, attempt: 1, claimId: `w:${stepId}` };
}

let ids = 0;
function toChanges(
  moved: readonly { before: StoredAggregate | null; taskSeq: number; decided: Decided }[],
  at: number,
): Changes {
  const context = { time: new Date(at).toISOString(), newId: () => `id-${++ids}` };
  const all = <T>(of: (change: Change, taskSeq: number) => readonly T[]) =>
    moved.flatMap(({ taskSeq, decided }) => decided.changes.flatMap((change) => of(change, taskSeq)));
  return {
    aggregates: moved.map(({ before, taskSeq, decided }) => ({ before, after: { taskSeq, state: decided.state } })),
    transitions: all((change, taskSeq) => {
      const transition = toTransition(change);
      return transition === null ? [] : [{ ...transition, taskSeq, tenantId: 'acme', at }];
    }),
    events: all((change) =>
      toOutgoing(change, context).flatMap((message) => {
        if (message.kind !== 'event') return [];
        const { tenantId, taskId, traceparent, envelope } = message;
        return [{ tenantId, taskId, traceparent, text: JSON.stringify(envelope) }];
      }),
    ),
    refusals: [],
  };
}

/**
 * Index entries read so far, by index; rows read without one, by table; pages of indexes, which tell of
 * entries that were passed over. Counts from some earlier transaction of the connection on, so that only
 * differences within one say something.
 */
async function countReads(tx: Tx): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<{ what: string; n: number }>(
    `SELECT relname AS what, pg_stat_get_xact_tuples_returned(oid)::int4 AS n FROM pg_class WHERE relnamespace = 'ledger'::regnamespace AND relkind IN ('r', 'i')
     UNION ALL
     SELECT 'pages of ' || relname, pg_stat_get_xact_blocks_fetched(oid)::int4 FROM pg_class WHERE relnamespace = 'ledger'::regnamespace AND relkind = 'i'`,
  );
  return new Map(rows.map(({ what, n }) => [what, n]));
}

async function analyze(database: TestDatabase): Promise<void> {
  const tables = await database.sql<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'ledger'::regnamespace AND relkind = 'r'`,
  );
  for (const { name } of tables) await database.sql(`VACUUM ANALYZE ledger.${name}`);
}

/** Tasks of one step in a phase, each with an event. */
async function addTasks(database: TestDatabase, phase: string, count: number): Promise<void> {
  await database.sql(
    `INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}') ON CONFLICT DO NOTHING`,
  );
  await database.sql(
    `WITH added AS (
       INSERT INTO ledger.tasks (tenant_id, task_id, idempotency_key, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
         pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       SELECT 'acme', 't-' || gen_random_uuid(), gen_random_uuid(), '', '', 'two-steps', 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now()
       FROM generate_series(1, $2::int4) RETURNING task_seq, task_id
     ), events AS (
       INSERT INTO ledger.events (position, tenant_id, task_id, envelope)
       SELECT m.position + row_number() OVER (), 'acme', task_id, '{}' FROM added CROSS JOIN ledger.meta m
     ), counted AS (
       UPDATE ledger.meta SET position = position + $2::int4
     )
     INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, state, phase, round, attempt, spent, ring,
       silent_claims, beaten, applied, due_at, ready_at, failures, candidates)
     SELECT task_seq, 'a', 0, 'acme', 'two-steps', 1, 'a', 'analyzer', 'x/y', '[]', 'pending', $1, 1, 1, 0, 1, 0, false, '[]', now() + interval '1 hour', now(), '[]', '[]' FROM added`,
    [phase, count],
  );
}

/** Everything in motion is done. */
async function finish(database: TestDatabase): Promise<void> {
  await database.sql(`UPDATE ledger.steps SET phase = 'done' WHERE phase <> 'done'`);
}
