import { callEndpoint } from '@cleanslate/bus';
import { TaskCancel } from '@cleanslate/contracts';
import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
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

const refused = { code: 'MODEL_REFUSED', disposition: 'terminal' } as const;
const submit = async (workflow: string, given: Scripts) =>
  (await p.client.submit({ workflow, input: scripts(given) })).taskId;
const statuses = async (taskId: string) =>
  (await lettersOf(p.platform, taskId)).map(({ step_id, attempt, status }) => [step_id, attempt, status]);

describe('a plain retry of the task', () => {
  test('is the replay of its open letters: they end when the work was claimed and reported, not before', async () => {
    const taskId = await p.submit('one-attempt', { failUntil: 'mended', failWith: refused, gate: 'retried' });
    expect((await p.client.result(taskId)).state).toBe('failed');
    const [first] = await lettersOf(p.platform, taskId);
    await p.client.retry(taskId);
    // In vain: the story goes on in a second letter, which names the first.
    await waitFor('the second letter', async () => (await lettersOf(p.platform, taskId)).length === 2);
    const again = await p.client.deadLetters.show(`acme.${taskId}.work.2`);
    expect(again).toMatchObject({ status: 'open', replayOf: first?.letter_id, lineage: first?.letter_id, replays: 1 });
    p.openGate('mended');
    await p.client.result(taskId);
    await p.client.retry(taskId);
    await p.deed(taskId, 'start', 3);
    expect(await statuses(taskId)).toEqual([
      ['work', 1, 'closed'],
      ['work', 2, 'replaying'],
    ]);
    p.openGate('retried');
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(await p.client.deadLetters.show(again.letterId)).toMatchObject({ status: 'closed', outcome: 'succeeded' });
  });

  test('of a result that the validator gave up goes on with another round, and its judge carries the letter', async () => {
    const judge = { verdict: 'always-same' as const, gate: 'judge' };
    p.openGate('judge');
    const taskId = await p.submit('judged', {}, { judge });
    expect((await p.client.result(taskId)).error?.code).toBe('VALIDATION_EXHAUSTED');
    const [first] = await lettersOf(p.platform, taskId);
    await p.client.retry(taskId);
    await waitFor('the next judgement', async () => (await lettersOf(p.platform, taskId)).length === 2);
    const [, second] = await lettersOf(p.platform, taskId);
    expect(await p.client.deadLetters.show(first?.letter_id ?? '')).toMatchObject({
      status: 'closed',
      outcome: 'failed_again',
    });
    expect(await p.client.deadLetters.show(second?.letter_id ?? '')).toMatchObject({
      status: 'open',
      replayOf: first?.letter_id,
    });
  });
});

test('a replayed letter whose step nothing waits for any more is discarded with the reason', async () => {
  const bad = { failUntil: 'any', failWith: refused };
  const taskId = await submit('join-any', { a: bad, b: { ...bad, hang: true }, c: bad });
  expect((await p.client.result(taskId)).state).toBe('failed');
  const open = await lettersOf(p.platform, taskId);
  expect(open.map(({ status }) => status)).toEqual(['open', 'open', 'open']);
  p.openGate('any');
  await p.client.deadLetters.replay(open.find(({ step_id }) => step_id === 'a')?.letter_id ?? '');
  expect((await p.client.result(taskId)).state).toBe('completed');
  // Whether "c" was done first or lost as well is a race; "b" can only lose.
  const b = await p.client.deadLetters.show(open.find(({ step_id }) => step_id === 'b')?.letter_id ?? '');
  expect(b).toMatchObject({ status: 'discarded', replays: 1 });
  expect(b.history.at(-1)?.what).toBe('discarded: no longer needed: nothing waits for it any more');
  expect((await lettersOf(p.platform, taskId)).filter(({ status }) => status === 'replaying')).toEqual([]);
});

test('a cancel said again under its request id is answered the same, also when the task has moved on', async () => {
  const taskId = await p.submit('one-step', { hang: true });
  await p.deed(taskId, 'start');
  const cancel = (requestId: string, id = taskId) =>
    callEndpoint(p.client.bus, TaskCancel, 'acme', { taskId: id }, { source: '/test', requestId });
  const answers = await Promise.all([cancel('c-1'), cancel('c-1'), cancel('c-1')]);
  for (const answer of answers) expect(answer).toEqual({ taskId, state: 'failed', changed: true });
  expect(await cancel('c-2')).toEqual({ taskId, state: 'failed', changed: false });
  await p.client.retry(taskId);
  expect(await cancel('c-1')).toEqual({ taskId, state: 'failed', changed: true });
  await waitFor('the retried attempt', async () => (await stepsOf(p.platform, taskId))[0]?.phase === 'executing');
  await expect(cancel('c-1', 'another-task')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const other = await p.submit('one-step', {});
  await expect(cancel('c-1', other)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  expect(await cancel('c-3')).toEqual({ taskId, state: 'failed', changed: true });
});

test('candidates of an only attempt that failed after it proposed them are decided with its task', async () => {
  // Larger than the object store takes: the report fails for good once the candidate is stored.
  const taskId = await p.submit('one-attempt', { candidates: 1, bytes: 12_000_000 });
  expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'RESULT_TOO_LARGE' } });
  expect((await stepsOf(p.platform, taskId))[0]).toMatchObject({ attempt: 1, spent: 1 });
  await waitFor('the candidate held', async () => {
    const rows = await p.sql<{ state: string }>('SELECT state FROM knowledge.candidates WHERE task_id = $1', [taskId]);
    return rows.length === 1 && rows[0]?.state !== 'waiting';
  });
});

test('nothing is left over', () => expectConserved(p.platform));
