import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { lettersOf } from '../fixtures/ledger-rows.ts';
import { PLAN_WORKFLOWS, type Scripts, scripts } from '../fixtures/plan-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workflows: PLAN_WORKFLOWS });
});
afterAll(() => p[Symbol.asyncDispose]());

const broken = { failUntil: 'never', failWith: { code: 'BROKEN', disposition: 'terminal' as const } };

async function submit(workflow: string, given: Scripts = {}): Promise<string> {
  return (await p.client.submit({ workflow, input: scripts(given) })).taskId;
}

async function endOf(taskId: string) {
  const task = await p.client.result(taskId);
  return { task, ends: Object.fromEntries(task.steps.map((step) => [step.stepId, step.error?.code ?? step.state])) };
}

const effects = (taskId: string) => p.deeds(taskId).flatMap(({ what, stepId }) => (what === 'effect' ? [stepId] : []));

/** What it is a race to see otherwise: this branch has failed before another one is done. */
const hasFailed = (taskId: string, stepId: string) =>
  waitFor(`${stepId} failed`, async () => {
    const { steps } = await p.client.task(taskId);
    return steps.some((step) => step.stepId === stepId && step.state === 'failed');
  });

describe('a join', () => {
  test('"any": the first branch is enough; running losers are aborted, queued and failed ones do no harm', async () => {
    const taskId = await submit('join-any', { a: { gate: 'first' }, b: { hang: true }, c: broken });
    await hasFailed(taskId, 'c');
    await waitFor('the start of b', () => p.deeds(taskId).some(({ stepId }) => stepId === 'b'));
    p.openGate('first');
    const { task, ends } = await endOf(taskId);
    expect(task.state).toBe('completed');
    expect(ends).toEqual({ a: 'completed', b: 'NOT_NEEDED', c: 'BROKEN', j: 'completed' });
    expect((await p.deed(taskId, 'aborted')).stepId).toBe('b');
    expect(effects(taskId).sort()).toEqual(['a', 'j']);
    expect(await lettersOf(p.platform, taskId)).toMatchObject([{ step_id: 'c', reason: 'BROKEN' }]);
  });

  test('"quorum": waits for two, and fails as soon as two can no longer come', async () => {
    const two = await submit('join-two', { b: broken, c: { gate: 'second' } });
    await hasFailed(two, 'b');
    p.openGate('second');
    const enough = await endOf(two);
    expect(enough.ends).toEqual({ a: 'completed', b: 'BROKEN', c: 'completed', j: 'completed' });
    const short = await endOf(await submit('join-two', { a: { hang: true }, b: broken, c: broken }));
    expect(short.task.state).toBe('failed');
    expect(short.ends).toMatchObject({ j: 'DEPENDENCY_FAILED', a: 'NOT_NEEDED' });
  });

  test('"best_effort": goes on when all branches have ended, however they did', async () => {
    const { task, ends } = await endOf(await submit('join-best-effort', { a: broken, b: broken }));
    expect(task.state).toBe('completed');
    expect(ends).toEqual({ a: 'BROKEN', b: 'BROKEN', c: 'completed', j: 'completed' });
  });

  test('"all": one failed branch fails what waits for it in the same transaction, naming it (case E10)', async () => {
    const taskId = await submit('join-all', { a: { hang: true }, b: broken });
    const { task, ends } = await endOf(taskId);
    expect(ends).toMatchObject({ a: 'NOT_NEEDED', b: 'BROKEN', j: 'DEPENDENCY_FAILED' });
    expect(task.error).toMatchObject({ code: 'BROKEN' });
    const last = task.steps.find((step) => step.stepId === 'j');
    expect(last?.error).toMatchObject({ message: expect.stringContaining('"b"'), details: { step: 'b' } });
    const at = await p.sql<{ at: Date; step_id: string | null }>(
      `SELECT DISTINCT x.at FROM ledger.transitions x JOIN ledger.tasks t USING (task_seq)
       WHERE t.task_id = $1 AND x.to_state = 'failed'`,
      [taskId],
    );
    expect(at).toHaveLength(1);
    const ended = await p.sql(
      `SELECT envelope->>'stepid' AS step FROM ledger.events WHERE task_id = $1 AND envelope->'data'->>'to' = 'failed' ORDER BY 1`,
      [taskId],
    );
    expect(ended.map((row) => row['step'])).toEqual(expect.arrayContaining(['a', 'b', 'j', null]));
  });

  test('cancelled while branches run: all end, the signals fire, nothing follows', async () => {
    const taskId = await submit('join-any', { a: { hang: true }, b: { hang: true }, c: { hang: true } });
    await waitFor('three starts', () => p.deeds(taskId).filter((deed) => deed.what === 'start').length === 3);
    expect(await p.client.cancel(taskId)).toMatchObject({ state: 'failed', changed: true });
    const { ends } = await endOf(taskId);
    expect(new Set(Object.values(ends))).toEqual(new Set(['CANCELLED']));
    await waitFor('three aborts', () => p.deeds(taskId).filter((deed) => deed.what === 'aborted').length === 3);
    expect(effects(taskId)).toEqual([]);
  });
});

test('a condition decides which branch runs; the other one is skipped, and the join goes on', async () => {
  const left = await endOf(await submit('either', { a: { bytes: 4 } }));
  expect(left.ends).toEqual({ a: 'completed', b: 'completed', c: 'NOT_NEEDED', j: 'completed' });
  const right = await endOf(await submit('either', { a: { bytes: 5 } }));
  expect(right.ends).toEqual({ a: 'completed', b: 'NOT_NEEDED', c: 'completed', j: 'completed' });
  const nothing = await endOf(await submit('nothing-to-do'));
  expect(nothing.task).toMatchObject({ state: 'completed', result: null, steps: [{ error: { code: 'NOT_NEEDED' } }] });
  const atOnce = await endOf(await submit('skipped-at-once'));
  expect(atOnce.ends).toEqual({ a: 'NOT_NEEDED', b: 'completed', j: 'completed' });
  expect([left.task.state, right.task.state]).toEqual(['completed', 'completed']);
});

describe('compensation', () => {
  test('undoes completed steps in reverse order before the task is failed, with the error it failed with first', async () => {
    const taskId = await submit('undoing', { j: broken });
    const { task, ends } = await endOf(taskId);
    expect(task).toMatchObject({ state: 'failed', error: { code: 'BROKEN' } });
    expect(ends).toMatchObject({ 'undo-b': 'completed', 'undo-a': 'completed' });
    expect(effects(taskId)).toEqual(['a', 'b', 'undo-b', 'undo-a']);
    await expect(p.client.retry(taskId)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });

  test('that fails is recorded and never hides the error; a retry runs again what was not undone, nothing else', async () => {
    const taskId = await submit('undoing', { j: broken, undo: { failUntil: 'undo-works' } });
    const { task, ends } = await endOf(taskId);
    expect(ends).toMatchObject({ 'undo-b': 'EXECUTOR_FAILED', 'undo-a': 'EXECUTOR_FAILED' });
    expect(task.error).toMatchObject({
      code: 'BROKEN',
      details: { notUndone: [{ step: 'undo-b' }, { step: 'undo-a' }] },
    });
    p.openGate('undo-works');
    expect(await p.client.retry(taskId)).toMatchObject({ state: 'pending' });
    const again = await endOf(taskId);
    expect(again.task).toMatchObject({ state: 'failed', error: { code: 'BROKEN' } });
    expect(effects(taskId)).toEqual(['a', 'b', 'undo-b', 'undo-a']);
  });

  test('also follows a cancel, and a second cancel does not stop it', async () => {
    const taskId = await submit('undoing', { j: { hang: true }, undo: { gate: 'undo-may' } });
    await waitFor('the last step', () => p.deeds(taskId).some((deed) => deed.stepId === 'j'));
    expect(await p.client.cancel(taskId)).toMatchObject({ state: 'executing', changed: true });
    await waitFor('the first undo', () => p.deeds(taskId).some((deed) => deed.stepId === 'undo-b'));
    expect((await p.client.task(taskId)).failing).toMatchObject({ code: 'CANCELLED' });
    expect(await p.client.cancel(taskId)).toMatchObject({ state: 'executing', changed: false });
    p.openGate('undo-may');
    const { task } = await endOf(taskId);
    expect(task).toMatchObject({ state: 'failed', error: { code: 'CANCELLED' } });
    expect(effects(taskId)).toEqual(['a', 'b', 'undo-b', 'undo-a']);
  });
});

test('a running task keeps its plan over a deploy that changes the workflow', async () => {
  const taskId = await submit('join-all', { a: { gate: 'deployed' } });
  await p.deed(taskId, 'start');
  const folder = mkdtempSync(join(tmpdir(), 'cleanslate-deploy-'));
  const changed = PLAN_WORKFLOWS.filter(({ name }) => name === 'join-any');
  for (const { plan } of changed)
    writeFileSync(join(folder, 'changed.json'), JSON.stringify({ ...plan, workflow: 'join-all' }));
  await p.platform.service('scheduler').stop();
  await p.platform.start('scheduler', { WORKFLOWS_DIR: folder });
  const young = await submit('join-all', { a: { hang: true }, b: { hang: true } });
  expect((await endOf(young)).ends).toMatchObject({ a: 'NOT_NEEDED', b: 'NOT_NEEDED', c: 'completed', j: 'completed' });
  expect((await p.client.task(taskId)).state).toBe('executing');
  p.openGate('deployed');
  const old = await endOf(taskId);
  expect(old.ends).toEqual({ a: 'completed', b: 'completed', c: 'completed', j: 'completed' });
  const { planHash } = await p.client.task(young);
  expect(planHash).not.toBe(old.task.planHash);
  rmSync(folder, { recursive: true });
  await expectConserved(p.platform);
});
