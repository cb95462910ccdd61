import { randomUUID } from 'node:crypto';
import { callEndpoint } from '@cleanslate/bus';
import { type GateView, TaskApprove, TaskRetry } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { PLAN_WORKFLOWS, type Scripts, scripts } from '../fixtures/plan-workflows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({
    postgresAdminUrl: inject('postgresAdminUrl'),
    workflows: PLAN_WORKFLOWS,
    workers: ['analyzer', 'validator'],
  });
});
afterAll(() => p[Symbol.asyncDispose]());

async function submit(workflow: string, given: Scripts = {}): Promise<string> {
  return (await p.client.submit({ workflow, input: scripts(given) })).taskId;
}

async function gateOf(taskId: string): Promise<GateView> {
  return await waitFor(`the gate of ${taskId}`, async () => {
    const { gate } = await p.client.task(taskId);
    return gate?.decision === null && gate;
  });
}

const starts = (taskId: string) => p.deeds(taskId).flatMap(({ what, stepId }) => (what === 'start' ? [stepId] : []));

describe('a gate after validation', () => {
  test('holds the validated result; approved by its hash, once, it completes the task without running anything again', async () => {
    const taskId = await submit('gated-result');
    const gate = await gateOf(taskId);
    expect(gate).toMatchObject({ onExpiry: 'reject', by: null, result: { text: 'xxxx' } });
    expect((await p.client.task(taskId)).state).toBe('awaiting_validation');
    await expect(p.client.approve(taskId, 'f'.repeat(64))).rejects.toMatchObject({ code: 'GATE_MISMATCH' });
    const globex = await p.platform.client('globex');
    await expect(globex.approve(taskId, gate.sha256)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await p.client.approve(taskId, gate.sha256)).toEqual({
      taskId,
      state: 'completed',
      decision: 'approved',
      by: 'person',
    });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', result: { text: 'xxxx' } });
    await expect(p.client.approve(taskId, gate.sha256)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    await expect(p.client.reject(taskId, gate.sha256)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(starts(taskId)).toEqual(['j', 'judge']);
    const told = await p.sql(
      `SELECT envelope->'data'->>'sha256' AS sha256 FROM ledger.events WHERE task_id = $1 AND envelope->>'type' = 'task.gate_opened.v1'`,
      [taskId],
    );
    expect(told).toEqual([{ sha256: gate.sha256 }]);
  });

  test('edited: the result is the person’s, recorded as such', async () => {
    const taskId = await submit('gated-result');
    const { sha256 } = await gateOf(taskId);
    expect(await p.client.edit(taskId, sha256, { text: 'by hand' })).toMatchObject({ decision: 'edited' });
    const task = await p.client.result(taskId);
    expect(task).toMatchObject({ state: 'completed', result: { text: 'by hand' }, gate: { decision: 'edited' } });
    const [last] = await p.sql(
      `SELECT trigger FROM ledger.transitions JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND to_state = 'completed' AND step_id IS NULL`,
      [taskId],
    );
    expect(last).toEqual({ trigger: 'gate_edited' });
  });

  test('rejected: the task fails with the reason; an operator’s retry asks again about the same result, and runs nothing', async () => {
    const taskId = await submit('gated-result');
    const first = await gateOf(taskId);
    expect(await p.client.reject(taskId, first.sha256, 'wrong party')).toMatchObject({ state: 'failed' });
    expect((await p.client.task(taskId)).error).toMatchObject({
      code: 'GATE_REJECTED',
      message: expect.stringContaining('wrong party'),
    });
    await p.client.retry(taskId, { deadlineMs: 120_000 });
    const again = await gateOf(taskId);
    expect(again.sha256).toBe(first.sha256);
    await p.client.approve(taskId, again.sha256);
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(starts(taskId)).toEqual(['j', 'judge']);
  });

  test('duplicates of one request, at the same moment and later, change the task once and answer the same (case E13)', async () => {
    const taskId = await submit('gated-result');
    const { sha256 } = await gateOf(taskId);
    const requestId = randomUUID();
    const ask = () =>
      callEndpoint(
        p.client.bus,
        TaskApprove,
        'acme',
        { taskId, sha256 },
        { source: '/test', timeoutMs: 30_000, requestId },
      );
    const answers = await Promise.all([ask(), ask(), ask()]);
    answers.push(await ask());
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ state: 'completed', decision: 'approved' });
    const retry = { source: '/test', timeoutMs: 30_000, requestId };
    await expect(callEndpoint(p.client.bus, TaskRetry, 'acme', { taskId }, retry)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });
});

describe('a gate after a step', () => {
  test('holds what follows until approved; an edit is what the next step reads', async () => {
    const taskId = await submit('gated-step');
    const gate = await gateOf(taskId);
    expect(gate).toMatchObject({ stepId: 'a', result: { text: 'xxxx' } });
    expect(starts(taskId)).toEqual(['a']);
    expect(await p.client.approve(taskId, gate.sha256)).toMatchObject({ state: 'executing' });
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(starts(taskId)).toEqual(['a', 'j']);
  });

  test('survives the restart of every scheduler, and ends with the task’s cancel', async () => {
    const taskId = await submit('gated-step');
    const gate = await gateOf(taskId);
    await p.platform.service('scheduler').kill('SIGKILL');
    await p.platform.start('scheduler');
    expect(await gateOf(taskId)).toEqual(gate);
    expect(await p.client.cancel(taskId)).toMatchObject({ state: 'failed', changed: true });
    await expect(p.client.approve(taskId, gate.sha256)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });

  test.each([
    ['reject', { state: 'failed', error: { code: 'GATE_EXPIRED' } }],
    ['approve', { state: 'completed', result: { text: 'xxxx' } }],
  ] as const)('that nobody decides on ends by its due time: %s', async (onExpiry, end) => {
    const taskId = await submit(`gate-expires-${onExpiry}`);
    expect(await p.client.result(taskId)).toMatchObject({ ...end, gate: { by: 'expiry' } });
  });
});

describe('a fork', () => {
  test('at a step keeps earlier results, runs the rest, and leaves the old task as it was', async () => {
    const old = await submit('join-all', { j: { failUntil: 'never' } });
    const before = await p.client.result(old);
    expect(before.state).toBe('failed');
    const forked = await p.client.fork(old, { at: 'j' });
    expect(forked).toMatchObject({ forkedFrom: old, pin: before.pin });
    await waitFor('the fork’s step', () => starts(forked.taskId).includes('j'));
    p.openGate('never');
    const task = await p.client.result(forked.taskId);
    expect(task).toMatchObject({ state: 'failed', forkedFrom: old });
    expect(starts(forked.taskId)).toEqual(['j']);
    expect(task.steps.filter((step) => step.state === 'completed').map((step) => step.stepId)).toEqual(['a', 'b', 'c']);
    expect(await p.client.task(old)).toEqual(before);
    const copied = await p.sql(
      `SELECT step_id, copied_from FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND copied_from IS NOT NULL ORDER BY 1`,
      [forked.taskId],
    );
    expect(copied.map((row) => row['step_id'])).toEqual(['a', 'b', 'c']);
  });

  test('behind a gate asks anew before anything runs', async () => {
    const old = await submit('gated-step');
    await p.client.approve(old, (await gateOf(old)).sha256);
    await p.client.result(old);
    const forked = await p.client.fork(old, { at: 'j' });
    expect(forked.state).toBe('awaiting_validation');
    await p.client.approve(forked.taskId, (await gateOf(forked.taskId)).sha256);
    expect((await p.client.result(forked.taskId)).state).toBe('completed');
    expect(starts(forked.taskId)).toEqual(['j']);
  });

  test('with another pin runs everything again at that pin; both together, or an unknown step, are refused', async () => {
    const old = await submit('join-all');
    expect((await p.client.result(old)).state).toBe('completed');
    const forked = await p.client.fork(old, { validAt: '2024-06-01' });
    expect(forked.pin.validAt).toBe('2024-06-01T00:00:00.000Z');
    expect((await p.client.result(forked.taskId)).state).toBe('completed');
    expect(starts(forked.taskId).sort()).toEqual(['a', 'b', 'c', 'j']);
    const both = p.client.fork(old, { at: 'j', validAt: '2024-06-01' });
    await expect(both).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(p.client.fork(old, { at: 'nope' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

test('an operator’s retry keeps finished results, and gives attempts and deadline anew', async () => {
  const taskId = await submit('either', { b: { failUntil: 'mended' } });
  expect((await p.client.result(taskId)).state).toBe('failed');
  p.openGate('mended');
  const { deadline } = await p.client.retry(taskId, { deadlineMs: 7_200_000 });
  expect(Date.parse(deadline) - Date.now()).toBeGreaterThan(7_000_000);
  expect((await p.client.result(taskId)).state).toBe('completed');
  expect(starts(taskId)).toEqual(['a', 'b', 'b', 'j']);
  await expect(p.client.retry(taskId)).rejects.toMatchObject({ code: 'ALREADY_COMPLETED' });
  await expectConserved(p.platform);
});
