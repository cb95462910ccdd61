import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { adminOf, countMessages, expectConserved } from '../fixtures/conservation.ts';
import { stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';
import { slate } from '../fixtures/slate.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workers: ['analyzer', 'validator'],
    // Not by itself: what the first test breaks must be seen in the metric first.
    env: { RECONCILE_MS: '3600000' },
  });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('rows are broken behind the ledger’s back', () => {
  test('the metric tells, the doctor names them, `--repair` sets them going, and it is 0 again', async () => {
    const blocked = await p.submit('unattended', {});
    await waitFor('it is dispatched', async () => (await stepsOf(p.platform, blocked))[0]?.phase === 'dispatched');
    const running = await p.submit('one-step', { gate: 'mend' });
    await p.deed(running, 'start');
    await breakRows(blocked, `phase = 'blocked', due_at = NULL`);
    await breakRows(running, 'due_at = NULL');
    // Work that is all done, and a task that never heard of it.
    const unheard = await p.submit('unattended', {});
    await breakRows(unheard, `phase = 'done', state = 'completed', due_at = NULL, output = '{"text":"kept"}'`);

    await waitFor('the metric', async () => (await metric('slate_tasks_unaccounted')) === 3);
    const sick = await slate(p.platform, 'doctor', '--json');
    expect(sick.code).toBe(1);
    expect(checkOf(sick.stdout, 'unaccounted tasks')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining(`acme/${blocked}`),
    });

    const repaired = await slate(p.platform, 'doctor', '--repair', '--json');
    expect(JSON.parse(repaired.stdout)).toMatchObject({ repaired: 3 });
    expect(checkOf(repaired.stdout, 'unaccounted tasks')).toMatchObject({ state: 'ok' });
    expect(checkOf(repaired.stdout, 'repairs')).toMatchObject({ state: 'warn' });
    await waitFor('the metric', async () => (await metric('slate_tasks_unaccounted')) === 0);
    expect(await p.sql('SELECT task_id, step_id, what FROM ledger.repairs ORDER BY repair_id')).toEqual([
      { task_id: running, step_id: 'work', what: 'due_time' },
      { task_id: blocked, step_id: 'work', what: 'decided' },
      { task_id: unheard, step_id: null, what: 'decided' },
    ]);

    expect(await p.client.result(unheard)).toMatchObject({ state: 'completed', result: { text: 'kept' } });
    p.openGate('mend');
    await p.startWorker('analyzer', { ROLE: 'retriever', NATS_USER: 'worker-retriever' });
    for (const taskId of [running, blocked]) {
      expect((await p.client.result(taskId)).state).toBe('completed');
      expect(await stepsOf(p.platform, taskId)).toMatchObject([{ state: 'completed', spent: 0 }]);
      expect(p.deeds(taskId).filter(({ what }) => what === 'effect')).toHaveLength(1);
    }
    await expectConserved(p.platform);
  });

  test('one that can’t be decided, since nobody can read its plan, holds up no other', async () => {
    const [stuck, mendable] = [
      await p.submit('soon-retry', { gate: 'held' }),
      await p.submit('one-step', { gate: 'held' }),
    ];
    for (const taskId of [stuck, mendable]) await p.deed(taskId, 'start');
    // Plans are kept in memory: the next scheduler has not read this one yet.
    await p.platform.service('scheduler').stop();
    const [kept] = await p.sql<{ plan: unknown }>(
      `UPDATE ledger.plans p SET plan = '{"from":"the future"}' FROM ledger.plans old
       WHERE p.workflow = 'soon-retry' AND old.plan_hash = p.plan_hash RETURNING old.plan`,
    );
    for (const taskId of [stuck, mendable])
      await breakRows(
        taskId,
        `phase = 'done', state = 'completed', due_at = NULL, timeout_at = NULL, output = '{"text":"kept"}'`,
      );
    await p.platform.start('scheduler');
    const repair = async () => JSON.parse((await slate(p.platform, 'doctor', '--repair', '--json')).stdout);
    expect(await repair()).toMatchObject({ repaired: 1 });
    expect((await p.client.result(mendable)).state).toBe('completed');
    await p.sql(`UPDATE ledger.plans SET plan = $1 WHERE workflow = 'soon-retry'`, [JSON.stringify(kept?.plan)]);
    expect(await repair()).toMatchObject({ repaired: 1 });
    expect((await p.client.result(stuck)).state).toBe('completed');
    p.openGate('held');
    await expectConserved(p.platform);
  });

  test('by itself too: candidates whose task has no settlement, or one that counts as done, are decided', async () => {
    const [lost, wrong] = [await unsettled('lost'), await unsettled('wrong')];
    await p.sql('DELETE FROM ledger.settlements WHERE task_id = $1', [lost]);
    await p.sql('UPDATE ledger.settlements SET settled_at = now() WHERE task_id = $1', [wrong]);
    // All of it a while ago.
    await age([lost, wrong]);
    expect(await p.sql('SELECT task_id, what FROM ledger.unaccounted_candidates ORDER BY 1')).toHaveLength(2);
    // One that looks by itself, from here on: before, it could be quicker than the look at what is wrong.
    await p.platform.service('scheduler').kill('SIGKILL');
    await p.platform.start('scheduler', { RECONCILE_MS: '300' });
    await p.platform.start('knowledge-maintainer');
    await waitFor('nothing unaccounted', async () => {
      return (await p.sql('SELECT FROM ledger.unaccounted_candidates')).length === 0;
    });
    await waitFor('both decided', async () => {
      return (await p.sql(`SELECT FROM knowledge.candidates WHERE state <> 'settled'`)).length === 0;
    });
    const repairs = await p.sql(`SELECT DISTINCT task_id FROM ledger.repairs WHERE what = 'settled_again'`);
    expect(repairs.map(({ task_id }) => task_id).sort()).toEqual([lost, wrong].sort());
    await waitFor('the metric', async () => (await metric('slate_candidates_unaccounted')) === 0);
    await expectConserved(p.platform);
  });
});

/** A finished task whose candidate waits: the maintainer died before it was told. */
async function unsettled(name: string): Promise<string> {
  const running = p.platform.services.some(({ name: n, exit }) => n === 'knowledge-maintainer' && exit === undefined);
  if (!running) await p.platform.start('knowledge-maintainer');
  const taskId = await p.submit('judged', { candidates: 1 }, { judge: { gate: name } });
  await waitFor('the candidate stored', async () => {
    return (await p.sql('SELECT FROM knowledge.candidates WHERE task_id = $1', [taskId])).length === 1;
  });
  await p.platform.service('knowledge-maintainer').kill('SIGKILL');
  p.openGate(name);
  await p.client.result(taskId);
  // What was said already waits in the stream: it must not settle the matter.
  await waitFor('the settlement said', async () => {
    return (await p.sql('SELECT FROM ledger.settlements WHERE task_id = $1 AND tries > 0', [taskId])).length === 1;
  });
  await purgeCommands();
  return taskId;
}

async function purgeCommands(): Promise<void> {
  await waitFor('the command stored', async () => (await countMessages(p.platform, 'COMMANDS')) > 0);
  await (await adminOf(p.platform)).raw.request('$JS.API.STREAM.PURGE.COMMANDS', '', { timeout: 30_000 });
}

async function breakRows(taskId: string, set: string): Promise<void> {
  const [constraint] = await p.sql<{ conname: string }>(
    `SELECT conname FROM pg_constraint WHERE conrelid = 'ledger.steps'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%due_at IS NOT NULL%'`,
  );
  if (constraint) await p.sql(`ALTER TABLE ledger.steps DROP CONSTRAINT ${constraint.conname}`);
  // Past the trigger that guards the states, as an operator's slip would be.
  await p.sql(
    `SET session_replication_role = replica; UPDATE ledger.steps s SET ${set} FROM ledger.tasks t WHERE t.task_seq = s.task_seq AND t.task_id = '${taskId}'; RESET session_replication_role`,
  );
}

async function age(tasks: readonly string[]): Promise<void> {
  const hour = `- interval '1 hour'`;
  await p.sql(`UPDATE knowledge.candidates SET received_at = received_at ${hour} WHERE task_id = ANY($1)`, [tasks]);
  await p.sql(`UPDATE ledger.settlements SET settled_at = settled_at ${hour} WHERE task_id = ANY($1)`, [tasks]);
  await p.sql(`UPDATE ledger.tasks SET updated_at = updated_at ${hour} WHERE task_id = ANY($1)`, [tasks]);
}

async function metric(name: string): Promise<number | undefined> {
  const text = await (await fetch(`${p.platform.service('scheduler').healthUrl}/metrics`)).text();
  const line = text
    .split('\n')
    .find((candidate) => candidate.startsWith(`${name} `) || candidate.startsWith(`${name}{`));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

function checkOf(json: string, name: string): unknown {
  const { checks } = JSON.parse(json) as { checks: { name: string }[] };
  return checks.find((check) => check.name === name);
}
