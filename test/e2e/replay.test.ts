import { callEndpoint } from '@cleanslate/bus';
import { DeadLetterReplay } from '@cleanslate/contracts';
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

const terminal = { code: 'MODEL_REFUSED', disposition: 'terminal' } as const;

describe('a dead letter', () => {
  test('is replayed in vain before the repair and completes the task after it; it closes only when claimed and reported', async () => {
    const taskId = await p.submit('one-step', { failUntil: 'repair', failWith: terminal, gate: 'go-on' });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'MODEL_REFUSED' } });
    const first = await letterOf(taskId, 1);
    expect(await p.client.deadLetters.show(first)).toMatchObject({ status: 'open', attempt: 1, replays: 0 });

    expect(await p.client.deadLetters.replay(first)).toEqual({ letterId: first, taskId, attempt: 2 });
    const second = await letterOf(taskId, 2);
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'MODEL_REFUSED' } });
    // Claimed and reported, if only as a failure: the story goes on in the second letter, which keeps count of it.
    expect(await p.client.deadLetters.show(first)).toMatchObject({ status: 'closed', replays: 1 });
    expect(await p.client.deadLetters.show(second)).toMatchObject({ status: 'open', attempt: 2, replays: 1 });
    await expect(p.client.deadLetters.replay(first)).rejects.toMatchObject({ code: 'ALREADY_REPLAYED' });

    p.openGate('repair');
    const replay = (requestId: string) =>
      callEndpoint(p.client.bus, DeadLetterReplay, 'acme', { letterId: second }, { source: '/test', requestId });
    const [answer, ...repeated] = await Promise.all([replay('replay-1'), replay('replay-1'), replay('replay-1')]);
    expect(answer).toEqual({ letterId: second, taskId, attempt: 3 });
    for (const again of [...repeated, await replay('replay-1')]) expect(again).toEqual(answer);
    await p.deed(taskId, 'start', 3);
    expect(await p.client.deadLetters.show(second)).toMatchObject({ status: 'replaying' });
    p.openGate('go-on');
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(await p.client.deadLetters.show(second)).toMatchObject({ status: 'closed', replays: 2 });
    expect(p.deeds(taskId).filter((deed) => deed.what === 'effect')).toMatchObject([{ attempt: 3 }]);

    expect(await replay('replay-1')).toEqual(answer);
    await expect(p.client.deadLetters.replay(second)).rejects.toMatchObject({ code: 'ALREADY_REPLAYED' });
    await expect(p.client.deadLetters.replay(second, { force: true })).rejects.toMatchObject({
      code: 'ALREADY_COMPLETED',
    });
    await expect(p.client.deadLetters.replay('no-such-letter')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const globex = await p.platform.client('globex');
    await expect(globex.deadLetters.replay(second, { force: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await lettersOf(p.platform, taskId)).toHaveLength(2);
    await expectConserved(p.platform);
  });

  test('of a given-up result goes on with another round; what was done before is kept', async () => {
    const taskId = await p.submit('judged', {}, { judge: { verdict: 'always-same', failFirst: 0 } });
    expect(await p.client.result(taskId)).toMatchObject({ error: { code: 'VALIDATION_EXHAUSTED' } });
    const before = await stepsOf(p.platform, taskId);
    const [letter] = await lettersOf(p.platform, taskId);
    const answer = await p.client.deadLetters.replay(letter?.letter_id ?? '');
    expect(answer).toMatchObject({ taskId, attempt: 1 });
    const steps = await waitFor('the next round', async () => {
      const now = await stepsOf(p.platform, taskId);
      return now.length > before.length && now;
    });
    expect(steps.slice(0, before.length)).toEqual(before);
    expect(await p.client.result(taskId)).toMatchObject({ error: { code: 'VALIDATION_EXHAUSTED' } });
    await expectConserved(p.platform);
  });

  test('of a step in the middle repeats that step alone', async () => {
    const taskId = await p.submit('judged', {}, { judge: { failUntil: 'judge-repair', failWith: terminal } });
    expect(await p.client.result(taskId)).toMatchObject({ state: 'failed', error: { code: 'MODEL_REFUSED' } });
    const [letter] = await lettersOf(p.platform, taskId);
    expect(letter).toMatchObject({ step_id: 'judge' });
    p.openGate('judge-repair');
    await p.client.deadLetters.replay(letter?.letter_id ?? '');
    expect((await p.client.result(taskId)).state).toBe('completed');
    expect(p.deeds(taskId).map((deed) => [deed.what, deed.stepId, deed.attempt])).toEqual([
      ['start', 'make', 1],
      ['effect', 'make', 1],
      ['start', 'judge', 1],
      ['start', 'judge', 2],
      ['effect', 'judge', 2],
    ]);
    expect(await p.client.deadLetters.show(letter?.letter_id ?? '')).toMatchObject({ status: 'closed' });
    await expectConserved(p.platform);
  });
});

/** The letter of that attempt, once it is written. */
async function letterOf(taskId: string, attempt: number): Promise<string> {
  return await waitFor(`letter of attempt ${attempt}`, async () => {
    const found = (await lettersOf(p.platform, taskId)).find((letter) => letter.attempt === attempt);
    return found?.letter_id;
  });
}
