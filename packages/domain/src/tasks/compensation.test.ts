import { describe, expect, test } from 'vitest';
import { errorOf, given, planOf, planStep, type Story } from './testing.ts';

const compensate = { role: 'payer', executor: 'pay/undo', input: { what: { from: 'steps.a.output' } } };
const plan = planOf([
  planStep('a', [], { compensate }),
  planStep('b', ['a'], { compensate: { ...compensate, input: {} } }),
  planStep('c', ['b']),
]);
const worked = given(plan, { deadlineMs: 60_000 }).run('a', { n: 1 }).run('b');
const fail = (story: Story, stepId: string) => story.start(stepId).fail(stepId, errorOf('terminal'));
const failing = fail(worked, 'c');

describe('compensation', () => {
  test('begins when the task fails, last step first; the task is failed only when it has ended', () => {
    expect(failing.told).toEqual([
      'step_failed c',
      'letter_written c',
      'task_compensating',
      'step_added undo-b',
      'step_added undo-a',
      'step_readied undo-b',
    ]);
    expect(failing.state.task).toMatchObject({ state: 'executing', error: null, deadline: failing.now + 60_000 });
    expect(failing.step('undo-b')).toMatchObject({ role: 'payer', executor: 'pay/undo' });
    const ended = failing.run('undo-b').run('undo-a');
    expect(ended.told).toEqual(['step_succeeded undo-a', 'task_failed']);
    expect(ended.state.task).toMatchObject({ state: 'failed', error: { code: 'EXECUTOR_FAILED' }, failing: null });
  });

  test('goes on after one that failed, which is recorded and hides nothing', () => {
    const ended = fail(failing, 'undo-b').run('undo-a');
    expect(ended.state.task.error).toMatchObject({
      code: 'EXECUTOR_FAILED',
      message: 'step "c": it broke',
      details: { notUndone: [{ step: 'undo-b', code: 'EXECUTOR_FAILED' }] },
    });
    const again = ended.when({ kind: 'retry', letter: { letterId: 'letter-1', stepId: 'undo-b' } });
    expect(again.told).toEqual(['task_reopened', 'step_reopened undo-b', 'step_readied undo-b']);
    const end = again.run('undo-b');
    expect(end.told).toEqual(['letter_closed undo-b', 'step_succeeded undo-b', 'task_failed']);
    expect(end.state.task.error?.details).toEqual({});
    expect(end.when({ kind: 'retry', letter: null }).events).toMatchObject([{ kind: 'refused' }]);
  });

  test('follows a cancel and a deadline too, is not stopped by another cancel, and has a deadline of its own', () => {
    const cancelled = worked.start('c').when({ kind: 'cancel', reason: 'enough' });
    expect(cancelled.told.slice(0, 2)).toEqual(['step_failed c', 'task_compensating']);
    expect(cancelled.when({ kind: 'cancel', reason: 'again' }).events).toEqual([]);
    const late = worked.later(60_000).when({ kind: 'deadline_due' });
    expect(late.state.task).toMatchObject({ state: 'executing', failing: { error: { code: 'DEADLINE_EXCEEDED' } } });
    const over = late.start('undo-b').later(60_000).when({ kind: 'deadline_due' });
    expect(over.state.task).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
    expect(over.step('undo-a')).toMatchObject({ phase: 'failed' });
  });

  test('is of no concern to a task that completes, or whose steps never ended', () => {
    expect(worked.run('c').state.steps.map((step) => step.stepId)).toEqual(['a', 'b', 'c']);
    expect(fail(given(plan), 'a').state.task.state).toBe('failed');
  });

  test('of each round, with the output of that very step', () => {
    const judged = planOf([planStep('a', [], { compensate }), planStep('check', ['a'], { role: 'validator' })], {
      validation: { step: 'check', rework: ['a'], maxRounds: 2 },
    });
    const rework = { decision: 'rework', score: 0, checks: [], reasons: [] };
    const end = given(judged).run('a', { n: 1 }).run('check', rework).run('a#2', { n: 2 }).run('check#2', rework);
    expect(end.told).toContain('step_added undo-a#2');
    expect(end.told.at(-1)).toBe('step_readied undo-a#2');
    expect(end.run('undo-a#2').run('undo-a').state.task.error?.code).toBe('VALIDATION_EXHAUSTED');
  });
});
