import { describe, expect, test } from 'vitest';
import { chain, diamond, errorOf, given, type Story } from './testing.ts';

const states = (story: Story) => story.state.steps.map((step) => `${step.stepId} ${step.error?.code ?? step.state}`);

describe('fan-out and join', () => {
  const forked = given(diamond()).run('fork');

  test('lets all branches out together, and the join only after all of them', () => {
    expect(forked.told).toEqual(['step_succeeded fork', 'step_readied left', 'step_readied right']);
    const one = forked.run('right');
    expect(one.told).toEqual(['step_succeeded right']);
    const both = one.run('left');
    expect(both.told).toEqual(['step_succeeded left', 'step_readied join']);
    expect(both.run('join').state.task.state).toBe('completed');
  });

  test.each([
    ['reported as failed', (story: Story) => story.start('left').fail('left', errorOf('terminal'))],
    [
      'never taken by a worker',
      (story: Story) => story.dispatch('left').later(600_000).when({ kind: 'queue_due', stepId: 'left' }),
    ],
  ])('a branch that is %s never hangs the join (case E10)', (_name, failLeft) => {
    const failed = failLeft(forked.start('right'));
    expect(failed.state.task.state).toBe('failed');
    expect(states(failed).slice(2)).toEqual(['right NOT_NEEDED', 'join DEPENDENCY_FAILED']);
    expect(failed.state.steps.every((step) => step.dueAt === null)).toBe(true);
  });

  test('a finished branch keeps its result when its sibling fails', () => {
    const failed = forked.run('right', { n: 1 }).start('left').fail('left', errorOf('terminal'));
    expect(failed.step('right')).toMatchObject({ state: 'completed', output: { n: 1 } });
  });

  test('a failure runs down a chain in one decision, one event each', () => {
    const failed = given(chain('a', 'b', 'c'))
      .start('a')
      .fail('a', errorOf('terminal'));
    expect(failed.told).toEqual(['step_failed a', 'letter_written a', 'step_failed b', 'step_failed c', 'task_failed']);
    expect(states(failed)).toEqual(['a EXECUTOR_FAILED', 'b DEPENDENCY_FAILED', 'c DEPENDENCY_FAILED']);
  });
});
