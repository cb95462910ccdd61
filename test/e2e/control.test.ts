import { waitFor } from '@cleanslate/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { expectConserved } from '../fixtures/conservation.ts';
import { lettersOf, stepsOf } from '../fixtures/ledger-rows.ts';
import { type ScriptedPlatform, startScripted } from '../fixtures/scripted-platform.ts';

let p: ScriptedPlatform;
beforeAll(async () => {
  p = await startScripted({ postgresAdminUrl: inject('postgresAdminUrl'), workers: ['analyzer', 'validator'] });
});
afterAll(() => p[Symbol.asyncDispose]());

// One command stays in its queue: nobody works in the role of "unattended".
const rest = { mayHold: ['COMMANDS'] };

describe('cancel', () => {
  test('reaches a queued, a running, a backing-off and an awaiting step, and nothing else', async () => {
    const bystander = await p.submit('one-step', { gate: 'bystander' });
    const queued = await p.submit('unattended', {});
    const running = await p.submit('one-step', { hang: true });
    const backingOff = await p.submit('slow-retry', { failFirst: 1 });
    const awaiting = await p.submit('judged', {}, { judge: { hang: true } });
    await inPhase(queued, 'dispatched');
    await p.deed(running, 'start');
    await inPhase(backingOff, 'backing_off');
    await waitFor('validation', async () => (await p.client.task(awaiting)).state === 'awaiting_validation');
    await waitFor('the judge', () => p.deeds(awaiting).some((deed) => deed.stepId === 'judge'));

    for (const taskId of [queued, running, backingOff, awaiting]) {
      const askedAt = Date.now();
      expect(await p.client.cancel(taskId, 'enough')).toEqual({ taskId, state: 'failed', changed: true });
      const task = await p.client.task(taskId);
      expect(task).toMatchObject({ state: 'failed', error: { code: 'CANCELLED', message: 'enough' } });
      expect(task.steps.filter((step) => step.state === 'failed').map((step) => step.error?.code)).toEqual([
        'CANCELLED',
      ]);
      if (taskId === running || taskId === awaiting) {
        const aborted = await p.deed(taskId, 'aborted');
        // One second is the promise on a machine of one's own.
        expect(aborted.at - askedAt).toBeLessThan(20_000);
      }
      expect(await p.client.cancel(taskId)).toEqual({ taskId, state: 'failed', changed: false });
    }
    expect(await p.client.task(bystander)).toMatchObject({ state: 'executing' });
    p.openGate('bystander');
    expect((await p.client.result(bystander)).state).toBe('completed');
    expect(p.deeds(backingOff).map((deed) => deed.what)).toEqual(['start']);
    await expect(p.client.cancel('no-such-task')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const globex = await p.platform.client('globex');
    await expect(globex.cancel(bystander)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expectConserved(p.platform, rest);
  });

  test('racing a completion gives one truthful outcome', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        const taskId = await p.submit('one-step', { sleepMs: 5 * i });
        await p.deed(taskId, 'start');
        const answer = await p.client.cancel(taskId);
        const { state } = await p.client.result(taskId);
        return { taskId, answer, state };
      }),
    );
    for (const { answer, state } of outcomes) {
      expect(answer.state).toBe(state);
      expect(answer.changed).toBe(state === 'failed');
    }
    const ends = await p.sql(
      `SELECT task_id, count(*)::int4 AS n FROM ledger.events
       WHERE task_id = ANY($1) AND envelope->>'type' = 'task.transitioned.v1' AND envelope->'data'->>'to' IN ('completed', 'failed')
       GROUP BY 1 HAVING count(*) <> 1`,
      [outcomes.map(({ taskId }) => taskId)],
    );
    expect(ends).toEqual([]);
    await expectConserved(p.platform, rest);
  });
});

describe('time', () => {
  test.each([
    ['one-step', 'with attempts left'],
    ['one-attempt', 'without attempts left'],
  ])('the deadline ends a hanging step of "%s" (%s) as DEADLINE_EXCEEDED, and its signal fires', async (workflow) => {
    const taskId = await p.submit(workflow, { hang: true }, { deadlineMs: 4_000 });
    const task = await p.client.result(taskId);
    expect(task).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
    expect(task.steps[0]).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'DEADLINE_EXCEEDED' } });
    const start = await p.deed(taskId, 'start');
    const aborted = await p.deed(taskId, 'aborted');
    expect(aborted.at - start.at).toBeLessThan(30_000);
    expect(p.deeds(taskId).some((deed) => deed.what === 'effect')).toBe(false);
    expect(await lettersOf(p.platform, taskId)).toMatchObject([{ reason: 'DEADLINE_EXCEEDED', step_id: 'work' }]);
    await expectConserved(p.platform, rest);
  });

  test('a task that nobody works on ends at its deadline too', async () => {
    const taskId = await p.submit('unattended', {}, { deadlineMs: 500 });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
  });

  test.each([
    ['that heeds its signal', {}],
    ['that is deaf to its signal', { deaf: true }],
  ])('an attempt %s is timed out, retried, then given up with its history', async (_, more) => {
    const taskId = await p.submit('brief', { hang: true, ...more });
    const task = await p.client.result(taskId);
    expect(task).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
    expect(p.deeds(taskId).flatMap(({ what, attempt }) => (what === 'start' ? [attempt] : []))).toEqual([1, 2]);
    const [letter, ...others] = await lettersOf(p.platform, taskId);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ reason: 'ATTEMPTS_EXHAUSTED', step_id: 'work', attempt: 2, status: 'open' });
    expect(letter?.history.map(({ what, attempt, error }) => [what, attempt, error?.code])).toEqual([
      ['attempt_failed', 1, 'ATTEMPT_TIMEOUT'],
      ['attempt_failed', 2, 'ATTEMPT_TIMEOUT'],
      ['given_up', 2, 'ATTEMPTS_EXHAUSTED'],
    ]);
    await expectConserved(p.platform, rest);
  });
});

async function inPhase(taskId: string, phase: string): Promise<void> {
  await waitFor(`${taskId} ${phase}`, async () => (await stepsOf(p.platform, taskId))[0]?.phase === phase);
}
