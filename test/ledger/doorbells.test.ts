import { findLeftDoorbells, forgetOutbox, hasEarlierMessages, noteDoorbells, type Tx } from '@cleanslate/store';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';
import { countRows, type PlanNode } from './plan-rows.ts';

// Which dispatched steps are doorbells that are to be published (again), and what it costs to find them.

const RING_CHECK_MS = 30_000;
const AGE = { olderThanMs: 5_000, ringCheckMs: RING_CHECK_MS };

let ledger: LedgerDatabase;
beforeAll(async () => {
  // As the scheduler's: plans are made on the first day, while tables are empty.
  ledger = await openLedger({ poolSize: 1, bitmapScans: false, planOnce: true });
  await ledger.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  await find();
});
afterAll(() => ledger[Symbol.asyncDispose]());
beforeEach(() => ledger.sql('DELETE FROM ledger.tasks'));

describe('doorbells that were left', () => {
  test('are those of steps dispatched seconds ago of which no PubAck is on record, oldest first and so many at a time', async () => {
    await addSteps('fresh', { agoMs: 4_000 });
    await addSteps('left', { agoMs: 6_000 });
    await addSteps('older', { agoMs: 600_000 });
    await addSteps('noted', { agoMs: 60_000, set: 'doorbell_seq = 7' });
    await addSteps('running', { agoMs: 60_000, set: `phase = 'executing', state = 'executing', claim_id = 'c'` });
    expect((await find()).map(({ stepId, attempt, ring }) => [stepId, attempt, ring])).toEqual([
      ['older', 2, 1],
      ['left', 2, 1],
    ]);
    expect((await find(1)).map(({ stepId }) => stepId)).toEqual(['older']);
  });

  test('are not left any more once they are noted; another attempt or ring, or a step that is answered, takes no note', async () => {
    await addSteps('left', { agoMs: 6_000 });
    const [key] = await find();
    if (key === undefined) throw new Error('nothing was left');
    const note = (change: object) =>
      ledger.commit((tx) => noteDoorbells(tx, [{ ...key, streamSequence: 17, ...change }]));
    await note({ attempt: 1 });
    await note({ ring: 2 });
    expect(await find()).toEqual([key]);
    await note({});
    expect(await find()).toEqual([]);
    expect(await ledger.sql('SELECT doorbell_seq::int4 AS seq FROM ledger.steps')).toEqual([{ seq: 17 }]);
    await ledger.sql(`UPDATE ledger.steps SET phase = 'executing', state = 'executing', claim_id = 'c'`);
    await note({ streamSequence: 18 });
    expect(await ledger.sql('SELECT doorbell_seq::int4 AS seq FROM ledger.steps')).toEqual([{ seq: 17 }]);
  });

  test('are found through what is in flight, however much waits or is done', async () => {
    await addSteps('ready', { agoMs: 0, count: 5_000, set: `phase = 'ready'` });
    await addSteps('over', { agoMs: 0, count: 5_000, set: `phase = 'failed', state = 'failed'` });
    await addSteps('left', { agoMs: 6_000, count: 20 });
    const rows = await ledger.commit(async (tx) => {
      let plan: PlanNode | undefined;
      const query: Tx['query'] = async (text, values) => {
        const explained = await tx.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values,
        );
        plan = explained.rows[0]?.['QUERY PLAN'][0]?.Plan;
        return await tx.query(text, values);
      };
      expect((await findLeftDoorbells({ ...tx, query }, AGE, 500)).doorbells).toHaveLength(20);
      return plan === undefined ? Number.NaN : countRows(plan);
    });
    expect(rows).toBeLessThan(100);
  });
});

describe('a redaction waits for doorbells that may still tell what was erased', () => {
  const waits = (tasks: readonly string[]) =>
    ledger.commit((tx) => hasEarlierMessages(tx, { tenantId: 'acme', foundAt: new Date(Date.now() + 60_000), tasks }));

  test.each([
    ['dispatched and not noted', '', true],
    ['dispatched nobody knows when', 'ready_at = NULL', true],
    ['noted: it is in the stream, where it can be erased', 'doorbell_seq = 7', false],
    ['claimed: it was heard', `phase = 'executing', state = 'executing', claim_id = 'c'`, false],
    ['never dispatched', `phase = 'ready', attempt = 0`, false],
    ['ended unheard just now: its process may hold it', `phase = 'failed', state = 'failed', ended_at = now()`, true],
    [
      'ended unheard a while ago',
      `phase = 'failed', state = 'failed', ended_at = now() - interval '11 seconds'`,
      false,
    ],
  ])('%s', async (_what, set, waiting) => {
    await addSteps('work', { agoMs: 6_000, set });
    expect(await waits(['work-1'])).toBe(waiting);
    expect(await waits(['another'])).toBe(false);
  });
});

test('what a scheduler of the release before left in the outbox goes, but not while it may still be at it', async () => {
  await ledger.sql(
    `INSERT INTO ledger.outbox (stream, subject, headers, body, message_id, created_at)
     SELECT 'COMMANDS', 's', '{}', '', age::text, now() - age FROM unnest('{10 seconds,2 minutes}'::interval[]) AS age`,
  );
  await ledger.commit(forgetOutbox);
  expect(await ledger.sql('SELECT message_id FROM ledger.outbox')).toEqual([{ message_id: '00:00:10' }]);
});

async function find(limit = 500) {
  return (await ledger.commit((tx) => findLeftDoorbells(tx, AGE, limit))).doorbells;
}

/** Tasks of one step each, dispatched for the second time so long ago; `set` changes them afterwards. */
async function addSteps(
  stepId: string,
  { agoMs, count = 1, set = '' }: { readonly agoMs: number; readonly count?: number; readonly set?: string },
): Promise<void> {
  await ledger.sql(
    `WITH added AS (
       INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input,
         pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
       SELECT 'acme', $1 || '-' || n, '', '', 'w', 'p', 'pending', 1, 1, 0, '{}', now(), 0, now() + interval '1 hour', 3600000, now(), now()
       FROM generate_series(1, $2::int4) n RETURNING task_seq
     )
     INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, state, phase, round, attempt, spent, ring,
       silent_claims, beaten, applied, due_at, ready_at, failures, candidates)
     SELECT task_seq, $1, 0, 'acme', 'w', 1, $1, 'analyzer', 'x/y', '[]', 'pending', 'dispatched', 1, 2, 0, 1, 0, false, '[]',
       now() + make_interval(secs => $3::float8 / 1000), now() - interval '1 hour', '[]', '[]' FROM added`,
    [stepId, count, RING_CHECK_MS - agoMs],
  );
  if (set !== '') await ledger.sql(`UPDATE ledger.steps SET ${set} WHERE step_id = $1`, [stepId]);
}
