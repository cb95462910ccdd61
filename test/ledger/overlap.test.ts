import { defineWorkflow, type LedgerInput, MACHINE_DEFAULTS } from '@cleanslate/domain';
import { keyOf, openDatabase, PlanCache, StateCache } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { PASSING_TRACER } from '../../packages/runtime/src/tracing/tracer.ts';
import { applyBatch, type LedgerContext } from '../../services/scheduler/src/ledger/apply-batch.ts';
import { Batcher } from '../../services/scheduler/src/ledger/batcher.ts';
import type { LedgerItem, LedgerResult } from '../../services/scheduler/src/ledger/items.ts';
import { ALONE, Run } from '../../services/scheduler/src/ledger/turn.ts';

// Batches that get ready while the one before them is written, on a real database.

const role = 'analyzer';
const SLOTS = 10;
const TASKS = 300;
const { plan, planHash } = defineWorkflow({
  name: 'one-step',
  input: z.strictObject({}),
  steps: { a: { role, executor: 'test/a', after: [], input: {} } },
  result: 'steps.a.output',
});

let server: TestDatabase;
let contexts: readonly LedgerContext[];
beforeAll(async () => {
  server = await createTestDatabase(inject('postgresAdminUrl'));
  await server.sql(
    `INSERT INTO ledger.workers (worker_id, role, slots, free, seen_at) VALUES ('w', $1, $2, $2, now())`,
    [role, SLOTS],
  );
  contexts = [startContext(), startContext()];
});
beforeEach(() => server.sql('DELETE FROM ledger.tasks'));
afterAll(async () => {
  for (const { database } of contexts) await database.close();
  await server[Symbol.asyncDispose]();
});

/** Of one scheduler. Two connections are what it has at least. */
function startContext(): LedgerContext {
  const database = openDatabase({ url: server.urlOf('cleanslate_scheduler'), applicationName: 'test', poolSize: 2 });
  const states = new StateCache();
  database.pool.on('connect', () => states.clear());
  return { database, states, plans: new PlanCache(), epoch: 1, tracer: PASSING_TRACER, options: MACHINE_DEFAULTS };
}

function toSubmit(taskId: string): LedgerItem {
  const said = { tenantId: 'acme', taskId, submitId: taskId, bodyHash: 'h', planHash, plan, objects: [] };
  return { kind: 'submit', ...said, submit: { workflow: plan.workflow, input: {} }, traceparent: null };
}

test.each([
  ['alone', false],
  ['ready before the one before it was written', true],
])('a batch that frees room lets out as many steps: %s', async (_how, isBehind) => {
  const [context] = contexts;
  if (context === undefined) throw new Error('not started');
  const submits = Array.from({ length: 5 * SLOTS }, (_, n) => toSubmit(`task-${n}`));
  const { doorbells } = await applyBatch(context, submits, ALONE);
  expect(doorbells).toHaveLength(2 * SLOTS);
  const before = new Run(new Set(), false, undefined, () => undefined);
  const turn = new Run(new Set(), false, before, () => undefined);
  const applied = applyBatch(
    context,
    doorbells.flatMap(({ state: { task } }) => toReport(task.taskId)),
    isBehind ? turn : ALONE,
  );
  if (isBehind) await waitFor('it waits for its turn', isWaiting);
  before.passOn();
  expect((await applied).doorbells).toHaveLength(2 * SLOTS);
});

test('two schedulers whose connections are cut in the middle of them: each step succeeds once, and never are more let out than there is room', async () => {
  let beside = 0;
  const batchers = contexts.map(
    (context) =>
      new Batcher<LedgerItem, LedgerResult>(
        async (items, turn) => {
          if (!turn.isFirst) beside++;
          return (await applyBatch(context, items, turn)).results;
        },
        { maxBatch: 20, overlap: { atLeast: 1, keyOf: (item) => ('taskId' in item ? keyOf(item) : undefined) } },
      ),
  );
  /** What is lost with its connection is said again in the next round, perhaps to the other one. */
  const say = async (items: readonly (readonly LedgerItem[])[], round: number) => {
    const said = items.flatMap((each, n) => batchers[(n + round) % 2]?.addAll(each) ?? []);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test' AND datname = current_database() AND xact_start IS NOT NULL LIMIT 1`;
    await server.sql(cut);
    await Promise.all(said);
  };
  const submits = Array.from({ length: TASKS }, (_, n) => [toSubmit(`cut-${n}`)]);
  await waitFor('every task', async () => {
    await say(submits, 0);
    return (await server.sql('SELECT FROM ledger.tasks')).length === TASKS;
  });
  for (let round = 0, open = TASKS; open > 0; round++) {
    const rung = await server.sql<{ task_id: string }>(
      `SELECT task_id FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE phase IN ('dispatched', 'executing')`,
    );
    expect(rung.length).toBeLessThanOrEqual(2 * SLOTS);
    await say([...rung.map(({ task_id }) => toReport(task_id)), [{ kind: 'admit' }]], round);
    open = (await server.sql(`SELECT FROM ledger.tasks WHERE state <> 'completed'`)).length;
  }
  expect(beside).toBeGreaterThan(0);
  const [told] = await server.sql(
    `SELECT count(*) FILTER (WHERE trigger = 'claim_granted')::int4 AS claims, count(*) FILTER (WHERE trigger = 'report_succeeded')::int4 AS successes FROM ledger.transitions JOIN ledger.tasks USING (task_seq)`,
  );
  expect(told).toEqual({ claims: TASKS, successes: TASKS });
  const events = await server.sql(
    `SELECT envelope->>'type' AS type, count(*)::int4 AS n, count(DISTINCT task_id)::int4 AS tasks FROM ledger.events WHERE task_id LIKE 'cut-%' AND envelope->>'type' = 'step.transitioned.v1' GROUP BY 1`,
  );
  expect(events).toEqual([{ type: 'step.transitioned.v1', n: TASKS, tasks: TASKS }]);
});

/** Claimed and reported at once. */
function toReport(taskId: string): readonly LedgerItem[] {
  const fence = { epoch: 1, tenantId: 'acme', taskId, stepId: 'a', attempt: 1, claimId: `w:${taskId}` };
  const report = { outcome: 'succeeded' as const, output: {}, candidates: [], usage: { durationMs: 1 } };
  const inputs: readonly LedgerInput[] = [
    { kind: 'claim', fence, worker: 'w' },
    { kind: 'report', fence, report },
  ];
  return inputs.map((input) => ({ kind: 'input', tenantId: 'acme', taskId, input }));
}

/** The batch is decided as far as it can be before its turn. */
async function isWaiting(): Promise<boolean> {
  const rows = await server.sql(
    `SELECT FROM pg_stat_activity WHERE application_name = 'test' AND state = 'idle in transaction' AND query LIKE 'SELECT (extract(epoch FROM clock_timestamp())%'`,
  );
  return rows.length === 1;
}
