import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workers: ['analyzer', 'validator'] });
});
afterAll(() => p[Symbol.asyncDispose]());

describe('validation', () => {
  test('rework changes the result: an executor that errs in round 1 gets the reasons and makes it good in round 2', async () => {
    const taskId = await p.submit('judged', { badInRound1: true });
    const task = await p.client.result(taskId);
    const reason = { code: 'BAD_TEXT', path: 'text', message: 'the text is bad', remedy: 'make it good' };
    expect(task).toMatchObject({
      state: 'completed',
      round: 2,
      result: { text: 'xxxx', round: 2, feedback: [reason] },
    });
    expect(task.steps.map((step) => [step.stepId, step.round, step.state])).toEqual([
      ['make', 1, 'completed'],
      ['judge', 1, 'completed'],
      ['make#2', 2, 'completed'],
      ['judge#2', 2, 'completed'],
    ]);
    const [first] = await p.sql<{ output: unknown; feedback: unknown }>(
      `SELECT output, feedback FROM ledger.steps JOIN ledger.tasks USING (task_seq) WHERE task_id = $1 AND step_id = 'make'`,
      [taskId],
    );
    expect(first).toEqual({ output: { text: 'bad', round: 1, feedback: null }, feedback: null });
    await expectConserved(p.platform);
  });

  test.each([
    ['always-same', 2, /no progress: the validator repeats its complaint/],
    ['always-other', 3, /not valid after 3 rounds/],
  ] as const)(
    'a judge that says "%s" ends in VALIDATION_EXHAUSTED after %i rounds, with one letter',
    async (verdict, rounds, message) => {
      const taskId = await p.submit('judged', {}, { judge: { verdict } });
      const task = await p.client.result(taskId);
      expect(task).toMatchObject({ state: 'failed', round: rounds, error: { code: 'VALIDATION_EXHAUSTED' } });
      expect(task.error?.message).toMatch(message);
      expect(task.steps).toHaveLength(2 * rounds);
      expect(await lettersOf(p.platform, taskId)).toMatchObject([{ reason: 'VALIDATION_EXHAUSTED', status: 'open' }]);
      await expectConserved(p.platform);
    },
  );

  test('a verdict of rejection fails the task at once', async () => {
    const taskId = await p.submit('judged', {}, { judge: { verdict: 'reject' } });
    expect(await p.client.result(taskId)).toMatchObject({ round: 1, error: { code: 'VALIDATION_REJECTED' } });
    await expectConserved(p.platform);
  });

  test('a validator that crashes is infrastructure, not a verdict: its attempt is repeated, the round is not', async () => {
    const taskId = await p.submit('judged', {}, { judge: { failFirst: 2 } });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'completed', round: 1 });
    expect(await stepsOf(p.platform, taskId)).toMatchObject([
      { step_id: 'make', attempt: 1 },
      { step_id: 'judge', attempt: 3, spent: 2 },
    ]);
    await expectConserved(p.platform);
  });
});
