import { defineWorkflow, type LedgerInput, MACHINE_DEFAULTS } from '@cleanslate/domain';
import { openDatabase, PlanCache, StateCache } from '@cleanslate/store';
import { createTestDatabase, type TestDatabase, waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { PASSING_TRACER } from '../../packages/runtime/src/tracing/tracer.ts';
import { applyBatch, type LedgerContext } from '../../services/scheduler/src/ledger/apply-batch.ts';
import type { Doorbell } from '../../services/scheduler/src/ledger/batch.ts';
import type { LedgerItem } from '../../services/scheduler/src/ledger/items.ts';
import { ALONE, Run } from '../../services/scheduler/src/ledger/turn.ts';

// A batch that got ready while the one before it was written lets out as many steps as one that stood alone.

const role = 'analyzer';
const SLOTS = 2;
const { plan, planHash } = defineWorkflow({
  name: 'one-step',
  input: z.strictObject({}),
  steps: { a: { role, executor: 'test/a', after: [], input: {} } },
  result: 'steps.a.output',
});

let server: TestDatabase;
let context: LedgerContext;
let database: ReturnType<typeof openDatabase>;
beforeAll(async () => {
  server = await createTestDatabase(inject('postgresAdminUrl'));
  await server.sql(
    `INSERT INTO ledger.workers (worker_id, role, slots, free, seen_at) VALUES ('w', $1, $2, $2, now())`,
    [role, SLOTS],
  );
  database = openDatabase({ url: server.urlOf('cleanslate_scheduler'), applicationName: 'test', poolSize: 2 });
  context = {
    ...{ database, plans: new PlanCache(), states: new StateCache(), epoch: 1, tracer: PASSING_TRACER },
    options: MACHINE_DEFAULTS,
  };
});
afterAll(async () => {
  await database.close();
  await server[Symbol.asyncDispose]();
});

test.each([
  ['alone', false],
  ['ready before the one before it was written', true],
])('a batch that frees room lets out as many steps: %s', async (_how, isBehind) => {
  await server.sql('DELETE FROM ledger.tasks');
  const submits = Array.from({ length: 12 }, (_, i): LedgerItem => {
    const said = { tenantId: 'acme', taskId: `t-${i}`, submitId: `s-${i}`, bodyHash: 'h', planHash, plan, objects: [] };
    return { kind: 'submit', ...said, submit: { workflow: plan.workflow, input: {} }, traceparent: null };
  });
  const { doorbells } = await applyBatch(context, submits, ALONE);
  expect(doorbells).toHaveLength(2 * SLOTS);
  const before = new Run(new Set(), false, undefined, () => undefined);
  const turn = new Run(new Set(), false, before, () => undefined);
  const applied = applyBatch(context, doorbells.flatMap(toReport), isBehind ? turn : ALONE);
  if (isBehind) await waitFor('it waits for its turn', isWaiting);
  before.passOn();
  expect((await applied).doorbells).toHaveLength(2 * SLOTS);
});

/** Claimed and reported at once. */
function toReport({ envelope: { taskid: taskId = '' } }: Doorbell): readonly LedgerItem[] {
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
