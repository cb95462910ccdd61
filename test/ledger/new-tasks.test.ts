import { accept, type Decided, decide, defineWorkflow, type LedgerInput, toTransition } from '@cleanslate/domain';
import { type Changes, findKnownSubmits, saveChanges, type Tx, takeTaskSeqs, upsertPlan } from '@cleanslate/store';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type LedgerDatabase, openLedger } from './ledger-database.ts';

// A task is inserted with all else that its batch writes, in the state in which the batch leaves it.

const OPTIONS = { leaseMs: 30_000, admissionLookMs: 10_000, ringCheckMs: 30_000, maxRings: 20, silentClaims: 3 };
const { plan, planHash } = defineWorkflow({
  name: 'w',
  input: z.strictObject({}),
  steps: { a: { role: 'analyzer', executor: 'test/a', after: [], input: {} } },
  result: 'steps.a.output',
});

let ledger: LedgerDatabase;
beforeAll(async () => {
  ledger = await openLedger({ poolSize: 2 });
  await ledger.commit((tx) => upsertPlan(tx, planHash, plan.workflow, plan));
});
afterAll(() => ledger[Symbol.asyncDispose]());

/** A new task and what became of it in the batch that accepted it. */
async function begin(tx: Tx, taskId: string, inputs: readonly LedgerInput[], key?: string): Promise<Changes> {
  const now = Date.now();
  const pin = { validAt: new Date(now).toISOString(), revision: 0 };
  const submit = { workflow: plan.workflow, input: {}, ...(key === undefined ? {} : { key }) };
  const submission = { tenantId: 'acme', taskId, submitId: 's', bodyHash: 'h', planHash, plan, pin, traceparent: null };
  const { state, changes } = inputs.reduce<Decided>(
    (so, input) => {
      const next = decide(so.state, input, now, OPTIONS);
      return { state: next.state, changes: [...so.changes, ...next.changes] };
    },
    accept(1, { ...submission, submit }, now, OPTIONS),
  );
  const [taskSeq = 0] = await takeTaskSeqs(tx, 1);
  return {
    aggregates: [{ before: null, after: { taskSeq, state } }],
    transitions: changes.flatMap((change) => {
      const transition = toTransition(change);
      return transition === null ? [] : [{ ...transition, taskSeq, tenantId: 'acme', at: now }];
    }),
    events: [],
    refusals: [],
  };
}

const dispatch: LedgerInput = { kind: 'dispatch', stepId: 'a' };

const cancel: LedgerInput = { kind: 'cancel', reason: 'x' };

type Case = readonly [
  what: string,
  state: string,
  versions: number,
  moves: readonly string[],
  inputs: readonly LedgerInput[],
];
const CASES: readonly Case[] = [
  ['waits', 'pending', 1, ['pending'], []],
  ['starts', 'executing', 1, ['pending', 'executing'], [dispatch]],
  ['is cancelled', 'failed', 2, ['pending', 'failed'], [cancel]],
  ['starts and is cancelled', 'failed', 2, ['pending', 'executing', 'failed'], [dispatch, cancel]],
];

test.each(CASES)(
  'a task that %s in the batch that accepts it is %s in %i versions of its row, with all of its moves told',
  async (what, state, versions, moves, inputs) => {
    const written = await ledger.commit(async (tx) => {
      const before = await countVersions(tx);
      await saveChanges(tx, await begin(tx, what, inputs));
      return (await countVersions(tx)) - before;
    });
    expect(written).toBe(versions);
    expect(
      await ledger.sql(
        `SELECT t.state, s.state AS step, array_agg(x.to_state ORDER BY x.transition_id) FILTER (WHERE x.step_id IS NULL) AS moves
       FROM ledger.tasks t JOIN ledger.steps s USING (task_seq) JOIN ledger.transitions x USING (task_seq) WHERE t.task_id = $1 GROUP BY 1, 2`,
        [what],
      ),
    ).toEqual([{ state, step: state === 'executing' ? 'pending' : state, moves }]);
  },
);

/** Written by this connection, from some earlier moment on. */
async function countVersions(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(
    `SELECT (pg_stat_get_xact_tuples_inserted(c) + pg_stat_get_xact_tuples_updated(c))::int4 AS n FROM (SELECT 'ledger.tasks'::regclass AS c) t`,
  );
  return rows[0]?.n ?? Number.NaN;
}

test.each<[what: string, ids: readonly [string, string], key: string | undefined]>([
  ['id', ['same', 'same'], undefined],
  ['key', ['one', 'other'], 'k'],
])(
  'two batches with the same new task, by its %s: one writes it, the other is tried again and finds it',
  async (_, [first, second], key) => {
    const { promise: written, resolve: onWritten } = Promise.withResolvers<void>();
    const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
    const one = ledger.commit(async (tx) => {
      await saveChanges(tx, await begin(tx, first, [dispatch], key));
      onWritten();
      await mayCommit;
    });
    await written;
    const found: number[] = [];
    const other = ledger.commit(async (tx) => {
      const known = await findKnownSubmits(tx, [{ tenantId: 'acme', taskId: second, key: key ?? null }]);
      found.push(known.length);
      if (known.length > 0) return;
      const saved = saveChanges(tx, await begin(tx, second, [dispatch], key));
      // As the scheduler does: on its way when the statement before it fails.
      tx.commit();
      await saved;
    });
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ledger.tasks%'`;
    await waitFor('the other one waits for the first', async () => (await ledger.sql(waiting)).length > 0, {
      everyMs: 5,
    });
    letCommit();
    await Promise.all([one, other]);
    expect(found).toEqual([0, 1]);
    const ids = [first, second];
    expect(await ledger.sql('SELECT task_id FROM ledger.tasks WHERE task_id = ANY ($1)', [ids])).toEqual([
      { task_id: first },
    ]);
    const orphans =
      'SELECT FROM ledger.transitions x WHERE NOT EXISTS (SELECT FROM ledger.tasks t WHERE t.task_seq = x.task_seq)';
    expect(await ledger.sql(orphans)).toEqual([]);
  },
);
