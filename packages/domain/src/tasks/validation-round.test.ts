import { describe, expect, test } from 'vitest';
import { errorOf, given, judged, planOf, planStep, type Story, verdictOf } from './testing.ts';

const worked = given(judged()).run('work', { n: 1 });

describe('a verdict', () => {
  test('pass completes the task with the plan’s result', () => {
    const passed = worked.run('check', verdictOf('pass'));
    expect(passed.told).toEqual(['step_succeeded check', 'task_completed']);
    expect(passed.state.task).toMatchObject({ state: 'completed', result: { n: 1 }, round: 1 });
  });

  test('reject ends the task at once, with the reasons and a letter', () => {
    const rejected = worked.run('check', verdictOf('reject', 'wrong contract'));
    expect(rejected.told).toEqual(['step_succeeded check', 'letter_written check', 'task_failed']);
    expect(rejected.state.task.error).toMatchObject({
      code: 'VALIDATION_REJECTED',
      details: { reasons: [{ message: 'wrong contract' }] },
    });
    expect(rejected.step('check').state).toBe('completed');
  });

  test('that cannot be read is the validator’s fault: it is asked again, the result is not judged (case E17)', () => {
    for (const output of [
      {},
      { decision: 'pass' },
      { ...verdictOf('pass'), decision: 'PASS' },
      { answer: 'I cannot' },
    ]) {
      const again = (story: Story) =>
        story.later(10_000).when({ kind: 'backoff_due', stepId: 'check' }).run('check', output);
      const once = worked.run('check', output);
      expect(once.told).toEqual(['step_backed_off check']);
      expect(once.state.task).toMatchObject({ state: 'awaiting_validation', round: 1 });
      const failed = again(again(once));
      expect(failed.told).toEqual(['step_failed check', 'letter_written check', 'task_failed']);
      expect(failed.step('check').failures.map((failure) => failure.error.code)).toEqual(
        Array.from({ length: 3 }, () => 'OUTPUT_CONTRACT'),
      );
      expect(failed.state.task).toMatchObject({ round: 1, error: { code: 'ATTEMPTS_EXHAUSTED' } });
    }
  });

  test('of a validator that crashes is no rejection: it is tried again, the task keeps waiting', () => {
    const crashed = worked.start('check').fail('check');
    expect(crashed.step('check')).toMatchObject({ phase: 'backing_off', spent: 1 });
    expect(crashed.state.task.state).toBe('awaiting_validation');
    const again = crashed.later(10_000).when({ kind: 'backoff_due', stepId: 'check' });
    const passed = again.run('check', verdictOf('pass'));
    expect(passed.state.task.state).toBe('completed');
    const dead = worked.start('check').fail('check', errorOf('terminal', { code: 'MODEL_GONE' }));
    expect(dead.state.task.error?.code).toBe('MODEL_GONE');
  });
});

describe('rework', () => {
  const second = worked.run('check', verdictOf('rework', 'figure is wrong'));

  test('adds steps that supersede the old ones, with the reasons as feedback; it reopens none', () => {
    expect(second.told).toEqual([
      'step_succeeded check',
      'task_reworked',
      'step_added work#2',
      'step_added check#2',
      'step_readied work#2',
    ]);
    expect(second.state.task).toMatchObject({ state: 'executing', round: 2 });
    expect(second.step('work#2')).toMatchObject({
      planKey: 'work',
      supersedes: 'work',
      after: [],
      round: 2,
      attempt: 0,
      feedback: [{ message: 'figure is wrong' }],
    });
    expect(second.step('check#2')).toMatchObject({ supersedes: 'check', after: ['work#2'], phase: 'blocked' });
    expect(second.step('work')).toMatchObject({ state: 'completed', output: { n: 1 } });
  });

  test('is judged anew, and the result is the newest', () => {
    const again = second.run('work#2', { n: 2 });
    expect(again.told).toEqual(['step_succeeded work#2', 'task_validating', 'step_readied check#2']);
    const passed = again.run('check#2', verdictOf('pass'));
    expect(passed.state.task).toMatchObject({ state: 'completed', result: { n: 2 } });
  });

  test('ends with VALIDATION_EXHAUSTED after maxRounds', () => {
    const third = second.run('work#2', { n: 2 }).run('check#2', verdictOf('rework', 'another figure is wrong'));
    expect(third.told).toContain('step_added work#3');
    const exhausted = third.run('work#3', { n: 3 }).run('check#3', verdictOf('rework', 'and a third one'));
    expect(exhausted.told).toEqual(['step_succeeded check#3', 'letter_written check#3', 'task_failed']);
    expect(exhausted.state.task.error).toMatchObject({ code: 'VALIDATION_EXHAUSTED' });
    expect(exhausted.state.task.error?.message).toContain('not valid after 3 rounds');
  });

  test('ends sooner when the validator repeats its complaint', () => {
    const stuck = second.run('work#2', { n: 2 }).run('check#2', verdictOf('rework', 'figure is wrong'));
    expect(stuck.state.task.error).toMatchObject({ code: 'VALIDATION_EXHAUSTED' });
    expect(stuck.state.task.error?.message).toContain('repeats its complaint');
  });

  test('ends sooner when the reworked output is the same, whatever the order of its keys', () => {
    const same = given(judged()).run('work', { a: 1, b: 2 }).run('check', verdictOf('rework', 'x'));
    const stuck = same.run('work#2', { b: 2, a: 1 }).run('check#2', verdictOf('rework', 'y'));
    expect(stuck.state.task.error?.message).toContain('the reworked output is the same');
  });

  test('does not happen where one round is all', () => {
    const once = given(judged(1)).run('work').run('check', verdictOf('rework', 'x'));
    expect(once.state.task.error?.code).toBe('VALIDATION_EXHAUSTED');
  });

  test('mixed with a crash shares one count of rounds (case E11)', () => {
    const third = second
      .run('work#2', { n: 2 })
      .start('check#2')
      .fail('check#2')
      .later(10_000)
      .when({ kind: 'backoff_due', stepId: 'check#2' })
      .run('check#2', verdictOf('rework', 'b'));
    expect(third.state.task.round).toBe(3);
    const end = third.run('work#3', { n: 3 }).run('check#3', verdictOf('rework', 'c'));
    expect(end.state.task.error?.code).toBe('VALIDATION_EXHAUSTED');
  });

  test('repeats only what the plan names; what is read from other steps is their finished one', () => {
    const plan = planOf(
      [
        planStep('fetch'),
        planStep('write', ['fetch']),
        planStep('proof', ['write', 'fetch']),
        planStep('check', ['proof'], { role: 'validator' }),
      ],
      { validation: { step: 'check', rework: ['write', 'proof'], maxRounds: 3 } },
    );
    const again = given(plan).run('fetch').run('write').run('proof').run('check', verdictOf('rework', 'x'));
    expect(again.state.steps.map((step) => [step.stepId, step.after])).toEqual([
      ['fetch', []],
      ['write', ['fetch']],
      ['proof', ['write', 'fetch']],
      ['check', ['proof']],
      ['write#2', ['fetch']],
      ['proof#2', ['write#2', 'fetch']],
      ['check#2', ['proof#2']],
    ]);
    expect(again.told.filter((line) => line.startsWith('step_readied'))).toEqual(['step_readied write#2']);
  });
});
