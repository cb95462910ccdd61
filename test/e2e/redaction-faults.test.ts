import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { aFact } from '../fixtures/facts.ts';
import { findTraces } from '../fixtures/find-traces.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

const CANARY = 'Quokka';
const STATEMENT = `The ${CANARY} account is settled within 21 days.`;

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl') });
});
afterAll(() => p[Symbol.asyncDispose]());

const says = { failWith: { code: 'EXECUTOR_FAILED', disposition: 'terminal' as const, message: STATEMENT } };

async function stateOf(redactionId: number) {
  const { redactions } = await p.client.facts.redactions();
  return redactions.find((each) => each.redactionId === redactionId);
}

test('a redaction outlives kill -9 of everyone at work on it, waits for attempts that began before, and takes in what still lay in queues', async () => {
  await p.client.facts.import({
    sourceRef: 'policy',
    sourceType: 'human_confirmed',
    facts: [
      {
        knowledgeId: 'quo',
        subject: 'account',
        predicate: 'days',
        unit: 'days',
        polarity: 'positive',
        modality: 'must',
        knowledgeType: 'rule',
        tags: [],
        periods: [{ value: '21', statement: STATEMENT, validFrom: null, validUntil: null }],
      },
    ],
  });
  const lost = await p.submit('one-attempt', { ...says, failFirst: 9 });
  expect((await p.client.result(lost)).state).toBe('failed');
  const held = await p.submit('one-step', { ...says, gate: 'open' });
  await p.deed(held, 'start');
  // A submit that no scheduler has taken yet.
  await p.platform.service('scheduler').kill('SIGKILL');
  const queued = p.submit('one-attempt', { ...says, failFirst: 9 });
  await waitFor('the submit in its stream', async () =>
    (await findTraces(p.platform, CANARY)).includes('stream INTAKE cmd.task'),
  );
  const before = await findTraces(p.platform, CANARY);
  for (const place of [
    'ledger.dead_letters.body',
    'ledger.dead_letters.error',
    'ledger.tasks.input',
    'ledger.events.envelope',
    'stream EVENTS evt.task',
  ])
    expect(before).toContain(place);

  const { redactionId } = await p.client.facts.redact({ knowledgeId: 'quo', reason: 'ticket 4', by: 'maria' });
  const id = redactionId ?? 0;
  await p.platform.service('knowledge-maintainer').kill('SIGKILL');
  await p.platform.start('scheduler');
  await waitFor('it has begun', async () => (await stateOf(id))?.erased.rows !== 0);
  await p.platform.service('scheduler').kill('SIGKILL');
  expect(await stateOf(id)).toMatchObject({ confirmedAt: null });
  await Promise.all([p.platform.start('scheduler'), p.platform.start('knowledge-maintainer')]);
  await p.client.result(await queued);
  // The attempt that holds its input in memory is waited for; everything else is free of it.
  const waits = async () => {
    const found = await stateOf(id);
    return found?.state === 'waiting' && found.waitsFor.join() === held;
  };
  await waitFor('it waits for that attempt alone', waits, { timeoutMs: 60_000 });
  p.openGate('open');
  expect((await p.client.result(held)).state).toBe('completed');
  await waitFor('it is confirmed', async () => (await stateOf(id))?.state === 'erased', { timeoutMs: 60_000 });
  expect(await findTraces(p.platform, CANARY)).toEqual([]);
  // What was a dead letter is one still, and can be looked at.
  const { letters } = await p.client.deadLetters.list();
  expect(letters.map(({ taskId }) => taskId)).toContain(lost);
});

test('a redaction that can not be carried on holds up no other, and ends once it can', async () => {
  const stuck = aFact('stuck', 'The Numbat account is closed.');
  const free = aFact('free', 'The Bilby account is open.');
  await p.client.facts.import({ sourceRef: 'policy', sourceType: 'human_confirmed', facts: [stuck, free] });
  // A row that holds the words, and that nobody can change.
  await p.sql(`INSERT INTO ledger.requests (tenant_id, request_id, reply) VALUES ($1, 'fixed', $2)`, [
    p.client.tenant,
    JSON.stringify({ said: 'The Numbat account is closed.' }),
  ]);
  await p.sql(
    `CREATE FUNCTION ledger.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'fixed'; END $$`,
  );
  await p.sql(
    'CREATE TRIGGER refuse_change BEFORE UPDATE ON ledger.requests FOR EACH ROW EXECUTE FUNCTION ledger.refuse_change()',
  );
  const first =
    (await p.client.facts.redact({ knowledgeId: 'stuck', reason: 'ticket 5', by: 'maria' })).redactionId ?? 0;
  const second =
    (await p.client.facts.redact({ knowledgeId: 'free', reason: 'ticket 6', by: 'maria' })).redactionId ?? 0;
  const isErased = (id: number) => async () => (await stateOf(id))?.state === 'erased';
  await waitFor('the other one is confirmed', isErased(second), { timeoutMs: 60_000 });
  expect(await stateOf(first)).toMatchObject({ confirmedAt: null });
  await p.sql('DROP FUNCTION ledger.refuse_change() CASCADE');
  await waitFor('so is the first', isErased(first), { timeoutMs: 60_000 });
  expect(await findTraces(p.platform, 'Numbat')).toEqual([]);
});
