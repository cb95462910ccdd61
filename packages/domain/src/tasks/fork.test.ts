import { describe, expect, test } from 'vitest';
import { fork } from './fork.ts';
import { errorOf, given, OPTIONS, planOf, planStep, type Story, storyAt } from './testing.ts';

const plan = planOf([planStep('a'), planStep('b', ['a']), planStep('c', ['b']), planStep('x')], {
  result: { from: 'steps.c.output' },
});
const failed = given(plan).run('a', { n: 1 }).run('b', { n: 2 }).start('c').fail('c', errorOf('terminal'));
const pin = { validAt: '2024-01-01T00:00:00.000Z', revision: 3 };
const forked = (source: Story, at: string | null) =>
  storyAt(
    fork(source.state, { taskId: 'new', submitId: 'r', at, pin, deadlineMs: null }, source.now, OPTIONS).state,
    source.now,
  );
const phases = (story: Story) => story.state.steps.map((step) => `${step.stepId} ${step.phase}`);

describe('a fork', () => {
  test('at a step keeps what came before it, and runs everything that has no result', () => {
    const task = forked(failed, 'b');
    expect(phases(task)).toEqual(['a done', 'b ready', 'c blocked', 'x ready']);
    expect(task.step('a')).toMatchObject({
      output: { n: 1 },
      copiedFrom: 'a',
      attempt: 0,
      claimId: null,
      candidates: [],
    });
    expect(task.state.task).toMatchObject({ taskId: 'new', forkedFrom: 'task-1', state: 'pending', error: null, pin });
    expect(task.run('b').run('c').run('x').state.task.state).toBe('completed');
  });

  test('without a step runs everything; at an unknown one it is refused', () => {
    expect(phases(forked(failed, null))).toEqual(['a ready', 'b blocked', 'c blocked', 'x ready']);
    expect(() => forked(failed, 'z')).toThrow(/no step "z": fork it at one of a, b, c, x/);
  });

  test('leaves the old task as it was', () => {
    const before = structuredClone(failed.state);
    forked(failed, 'c').run('c');
    expect(failed.state).toEqual(before);
  });

  test('keeps no result of a step that its task undid, or is about to', () => {
    const compensate = { role: 'payer', executor: 'pay/undo', input: {} };
    const booking = planOf([planStep('a'), planStep('reserve', ['a'], { compensate }), planStep('pay', ['reserve'])]);
    const failing = given(booking).run('a').run('reserve', { seat: 7 }).start('pay').fail('pay', errorOf('terminal'));
    const undone = failing.run('undo-reserve');
    const notUndone = failing.start('undo-reserve').fail('undo-reserve', errorOf('terminal'));
    for (const source of [failing, undone, notUndone])
      expect(phases(forked(source, 'pay'))).toEqual(['a done', 'reserve ready', 'pay blocked']);
  });

  test('behind a gate asks about the result anew, with an edit in its place', () => {
    const gate = { after: 'a', expiresMs: 60_000, onExpiry: 'reject' as const };
    const open = given(planOf([planStep('a'), planStep('b', ['a'])], { gate })).run('a', { n: 1 });
    const sha256 = open.state.task.gate?.sha256 ?? '';
    const done = open.when({ kind: 'gate', action: 'edit', sha256, result: { n: 9 } }).run('b');
    const task = forked(done, 'b');
    expect(task.state.task).toMatchObject({ state: 'awaiting_validation', gate: { decision: null, result: { n: 9 } } });
  });
});
