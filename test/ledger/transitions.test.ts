import { TASK_STATES } from '@cleanslate/contracts';
import { isTransitionAllowed } from '@cleanslate/domain';
import { createTestDatabase, type TestDatabase } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(inject('postgresAdminUrl'));
  await database.sql(`INSERT INTO ledger.plans (plan_hash, workflow, plan) VALUES ('p', 'w', '{}')`);
  await database.sql(
    `INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     VALUES ('acme', 't', 'h', 's', 'w', 'p', 'pending', 1, 1, 1, '{}', now(), 0, now(), 1, now(), now())`,
  );
  await database.sql(`${INSERT_STEP} SELECT task_seq, 's', ${STEP_VALUES}, 'pending', NULL FROM ledger.tasks`);
});
afterAll(() => database[Symbol.asyncDispose]());

const INSERT_STEP = `INSERT INTO ledger.steps (task_seq, step_id, ordinal, tenant_id, workflow, priority, plan_key, role, executor, after, phase, round, attempt, spent, ring,
  silent_claims, beaten, applied, failures, candidates, state, copied_from)`;
const STEP_VALUES = `0, 'acme', 'w', 1, 's', 'analyzer', 'x', '[]', 'blocked', 1, 0, 0, 0, 0, false, '[]', '[]', '[]'`;

const moves = (['task', 'step'] as const).flatMap((kind) =>
  TASK_STATES.flatMap((from) => TASK_STATES.filter((to) => to !== from).map((to) => [kind, from, to] as const)),
);

test('the database makes exactly the moves of the table, whoever connects', async () => {
  const made: string[] = [];
  for (const [kind, from, to] of moves) {
    const table = `ledger.${kind}s`;
    await database.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    await database.sql(`UPDATE ${table} SET state = $1`, [from]);
    await database.sql(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    const error = await database.sql(`UPDATE ${table} SET state = $1`, [to]).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) made.push(`${kind}: ${from} → ${to}`);
    else expect(error).toMatchObject({ code: 'CS001', message: `${kind} may not go from ${from} to ${to}` });
  }
  const allowed = moves.filter(([kind, from, to]) => isTransitionAllowed(kind, from, to));
  expect(made).toEqual(allowed.map(([kind, from, to]) => `${kind}: ${from} → ${to}`));
});

test('rows begin as pending, but for steps that a fork copied', async () => {
  const insert = (id: string, state: string, copiedFrom: string | null) =>
    database.sql(`${INSERT_STEP} SELECT task_seq, $1, ${STEP_VALUES}, $2, $3 FROM ledger.tasks`, [
      id,
      state,
      copiedFrom,
    ]);
  await expect(insert('a', 'completed', null)).rejects.toMatchObject({ code: 'CS001' });
  await expect(insert('b', 'failed', 'old')).rejects.toMatchObject({ code: 'CS001' });
  await insert('c', 'completed', 'old');
});

test.each([
  ['pending', true],
  ['executing', true],
  ['awaiting_validation', false],
  ['completed', false],
  ['failed', false],
])('a task that is inserted as %s is taken: %s', async (state, taken) => {
  const inserted = database.sql(
    `INSERT INTO ledger.tasks (tenant_id, task_id, body_hash, submit_id, workflow, plan_hash, state, priority, round, round_base, input, pin_valid_at, pin_revision, deadline, deadline_ms, created_at, updated_at)
     VALUES ('acme', $1::text, 'h', 's', 'w', 'p', $1::text, 1, 1, 1, '{}', now(), 0, now(), 1, now(), now())`,
    [state],
  );
  if (taken) await inserted;
  else await expect(inserted).rejects.toMatchObject({ code: 'CS001' });
});

test('a step goes from pending to completed in one move only with a new claim', async () => {
  const complete = (set: string) =>
    database.sql(`UPDATE ledger.steps SET state = 'completed', ${set} WHERE step_id = 's'`);
  const begin = async (claim: string | null) => {
    await database.sql('ALTER TABLE ledger.steps DISABLE TRIGGER USER');
    await database.sql(`UPDATE ledger.steps SET state = 'pending', claim_id = $1 WHERE step_id = 's'`, [claim]);
    await database.sql('ALTER TABLE ledger.steps ENABLE TRIGGER USER');
  };
  await begin(null);
  await expect(complete('ended_at = now()')).rejects.toMatchObject({ code: 'CS001' });
  await complete(`claim_id = 'c1'`);
  await begin('c1');
  await expect(complete(`claim_id = 'c1'`)).rejects.toMatchObject({ code: 'CS001' });
  await complete(`claim_id = 'c2'`);
  await begin(null);
  await expect(
    database.sql(`UPDATE ledger.steps SET state = 'awaiting_validation', claim_id = 'c3' WHERE step_id = 's'`),
  ).rejects.toMatchObject({ code: 'CS001' });
});
