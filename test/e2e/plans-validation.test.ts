import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workers: ['analyzer', 'validator'] });
});
afterAll(() => p[Symbol.asyncDispose]());

test('a validator that never agrees, fails in between and is killed between rounds: three rounds in total, one letter (case E11)', async () => {
  const judge = { verdict: 'always-other', failFirst: 1, sleepMs: 2_000 } as const;
  const taskId = await p.submit('judged', {}, { judge });
  const judging = await waitFor('the second round’s validator', () =>
    p.deeds(taskId).find((deed) => deed.stepId === 'judge#2'),
  );
  const validator = p.platform.service('validator');
  await validator.kill('SIGKILL');
  expect(validator.exit).toMatchObject({ signal: 'SIGKILL' });
  await p.startWorker('validator');
  const task = await p.client.result(taskId);
  expect(task).toMatchObject({ state: 'failed', round: 3, error: { code: 'VALIDATION_EXHAUSTED' } });
  expect(task.steps).toHaveLength(6);
  expect(new Set(p.deeds(taskId).map((deed) => deed.round))).toEqual(new Set([1, 2, 3]));
  expect(p.deeds(taskId).some((deed) => deed.stepId === 'judge#2' && deed.pid !== judging.pid)).toBe(true);
  expect(await lettersOf(p.platform, taskId)).toMatchObject([{ reason: 'VALIDATION_EXHAUSTED' }]);
  await expectConserved(p.platform);
});

test('a validator that refuses to answer is asked again: the task keeps waiting, no round is spent, nothing counts as rejected (case E17)', async () => {
  const refusal = { code: 'MODEL_REFUSED', disposition: 'retryable' } as const;
  const taskId = await p.submit('judged', {}, { judge: { failFirst: 2, failWith: refusal } });
  expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', round: 1 });
  expect(await stepsOf(p.platform, taskId)).toMatchObject([
    { step_id: 'make', attempt: 1 },
    { step_id: 'judge', attempt: 3, spent: 2 },
  ]);
  const moves = await p.sql<{ to_state: string }>(
    `SELECT to_state FROM ledger.transitions JOIN ledger.tasks USING (task_seq)
     WHERE task_id = $1 AND step_id IS NULL ORDER BY transition_id`,
    [taskId],
  );
  expect(moves.map((move) => move.to_state)).toEqual(['pending', 'executing', 'awaiting_validation', 'completed']);
  expect(await lettersOf(p.platform, taskId)).toEqual([]);
});

test('one that never answers fails the task as what it is: infrastructure', async () => {
  const refusal = { code: 'MODEL_REFUSED', disposition: 'retryable' } as const;
  const taskId = await p.submit('judged', {}, { judge: { failFirst: 9, failWith: refusal } });
  const task = await p.client.result(taskId);
  expect(task).toMatchObject({ state: 'failed', round: 1, result: null, error: { code: 'ATTEMPTS_EXHAUSTED' } });
  expect(task.error?.details).toMatchObject({ last: { code: 'MODEL_REFUSED' } });
  await expectConserved(p.platform);
});
