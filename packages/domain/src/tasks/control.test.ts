import { describe, expect, test } from 'vitest';
import { chain, diamond, errorOf, given, judged, type Story, verdictOf } from './testing.ts';

const cancel = (story: Story) => story.when({ kind: 'cancel', reason: 'no longer wanted' });
const retry = (story: Story, letter: { letterId: string; stepId: string } | null = null) =>
  story.when({ kind: 'retry', letter });
const codes = (story: Story) => Object.fromEntries(story.state.steps.map((step) => [step.stepId, step.error?.code]));

describe('cancel', () => {
  const accepted = given(chain('a', 'b'));
  const backingOff = accepted.start('a').fail('a');
  test.each([
    ['ready', accepted],
    ['dispatched', accepted.dispatch('a')],
    ['executing', accepted.start('a')],
    ['backing off', backingOff],
    ['executing for the second time', backingOff.later(9_000).when({ kind: 'backoff_due', stepId: 'a' }).start('a')],
    ['between two steps', accepted.run('a')],
  ])('reaches a task that is %s', (_name, story) => {
    const cancelled = cancel(story);
    expect(cancelled.state.task).toMatchObject({
      state: 'failed',
      error: { code: 'CANCELLED', message: 'no longer wanted' },
    });
    expect(cancelled.told).not.toContain('letter_written a');
    for (const step of cancelled.state.steps.filter((each) => each.state !== 'completed'))
      expect(step).toMatchObject({ state: 'failed', error: { code: 'CANCELLED' }, dueAt: null });
    expect(cancel(cancelled).events).toEqual([]);
  });

  test.each(['ready', 'running'])('reaches a task that waits for its verdict, whose step is %s', (phase) => {
    const worked = given(judged()).run('work');
    const cancelled = cancel(phase === 'ready' ? worked : worked.start('check'));
    expect(cancelled.told).toEqual(['step_failed check', 'task_failed']);
    expect(codes(cancelled)).toEqual({ work: undefined, check: 'CANCELLED' });
  });

  test('that loses the race against completion changes nothing; one that wins makes the report stale', () => {
    const running = given(chain('a')).start('a');
    const lost = cancel(running.succeed('a'));
    expect(lost.events).toEqual([]);
    expect(lost.state.task.state).toBe('completed');
    const fence = running.fence('a');
    const won = cancel(running).report('a', { outcome: 'failed', error: errorOf('retryable') }, fence);
    expect(won.told).toEqual(['refused a']);
    expect(won.state.task.error?.code).toBe('CANCELLED');
  });
});

describe('retry', () => {
  const failed = given(diamond()).run('fork', { n: 1 }).start('left').start('right').fail('left', errorOf('terminal'));

  test('reopens the failed steps together; finished ones keep their results', () => {
    const reopened = retry(failed.later(1_000));
    expect(reopened.told).toEqual([
      'task_reopened',
      'step_reopened left',
      'step_reopened right',
      'step_reopened join',
      'step_readied left',
      'step_readied right',
    ]);
    expect(reopened.state.task).toMatchObject({ state: 'pending', error: null, deadline: reopened.now + 3_600_000 });
    expect(reopened.step('fork')).toMatchObject({ state: 'completed', output: { n: 1 } });
    for (const stepId of ['left', 'right'])
      expect(reopened.step(stepId)).toMatchObject({
        phase: 'ready',
        spent: 0,
        silentClaims: 0,
        attempt: 1,
        error: null,
      });
    expect(reopened.step('join').phase).toBe('blocked');
    const done = reopened.run('left').run('right').run('join');
    expect(done.state.task.state).toBe('completed');
    expect(done.step('left').attempt).toBe(2);
  });

  test('keeps the history, and gives all attempts and the queue time anew', () => {
    let story = retry(failed.later(500_000)).start('left');
    expect(story.step('left').queueExpiresAt).toBe(story.now + 600_000);
    for (let i = 0; i < 2; i++)
      story = story.fail('left').later(10_000).when({ kind: 'backoff_due', stepId: 'left' }).start('left');
    const again = story.fail('left');
    expect(again.step('left')).toMatchObject({ state: 'failed', spent: 3, attempt: 4 });
    expect(again.step('left').failures.map((failure) => failure.attempt)).toEqual([1, 2, 3, 4]);
  });

  test('gives the free silent claims anew', () => {
    const silent = (story: Story) =>
      story
        .start('a')
        .later(30_000)
        .when({ kind: 'lease_due', stepId: 'a', attempt: story.step('a').attempt + 1, claimId: 'claim-1' });
    const ended = silent(silent(given(chain('a')))).when({ kind: 'cancel', reason: '' });
    expect(ended.step('a').silentClaims).toBe(2);
    expect(retry(ended).step('a').silentClaims).toBe(0);
  });

  test('counts rounds anew, from the one that failed', () => {
    const second = given(judged(2))
      .run('work', { n: 1 })
      .run('check', verdictOf('rework', 'a'))
      .run('work#2', { n: 2 });
    const crashed = second.start('check#2').fail('check#2', errorOf('terminal'));
    const third = retry(crashed).run('check#2', verdictOf('rework', 'b'));
    expect(third.told).toContain('step_added work#3');
    const end = third.run('work#3', { n: 3 }).run('check#3', verdictOf('rework', 'c'));
    expect(end.state.task.error?.code).toBe('VALIDATION_EXHAUSTED');
  });

  test('is refused for a task that is not failed', () => {
    expect(retry(given(chain('a'))).events).toMatchObject([{ kind: 'refused', code: 'ILLEGAL_TRANSITION' }]);
    const again = retry(retry(failed));
    expect(again.events).toMatchObject([{ kind: 'refused', code: 'ILLEGAL_TRANSITION' }]);
    const done = retry(given(chain('a')).run('a'));
    expect(done.events).toMatchObject([{ kind: 'refused', code: 'ALREADY_COMPLETED' }]);
  });

  test.each(['cancel', 'deadline_due'] as const)('also opens what was ended by %s', (kind) => {
    const ended = given(chain('a', 'b')).start('a').later(3_600_000).when({ kind, reason: '' });
    expect(retry(ended).run('a').run('b').state.task.state).toBe('completed');
  });

  test('of a task that failed in the validator runs the validator again, nothing else', () => {
    const broken = given(judged()).run('work').start('check').fail('check', errorOf('terminal'));
    const reopened = retry(broken);
    expect(reopened.told).toEqual(['task_reopened', 'step_reopened check', 'step_readied check']);
    const judging = reopened.dispatch('check');
    expect(judging.told).toEqual(['task_started', 'task_validating', 'step_dispatched check']);
    expect(judging.claim('check').succeed('check', verdictOf('pass')).state.task.state).toBe('completed');
  });

  test('of a rejected task adds a round with the reasons, and rounds count from it', () => {
    const rejected = given(judged(2)).run('work', { n: 1 }).run('check', verdictOf('reject', 'no'));
    const reopened = retry(rejected);
    expect(reopened.told).toEqual([
      'task_reopened',
      'task_reworked',
      'step_added work#2',
      'step_added check#2',
      'step_readied work#2',
    ]);
    expect(reopened.step('work#2').feedback).toMatchObject([{ message: 'no' }]);
    const second = reopened.run('work#2', { n: 2 }).run('check#2', verdictOf('rework', 'still'));
    expect(second.told).toContain('step_added work#3');
    const third = second.run('work#3', { n: 3 }).run('check#3', verdictOf('rework', 'and still'));
    expect(third.state.task.error?.code).toBe('VALIDATION_EXHAUSTED');
  });
});

describe('the replay of a letter', () => {
  const failed = given(chain('a', 'b')).start('a').fail('a', errorOf('terminal'));
  const replayed = retry(failed, { letterId: 'letter-1', stepId: 'a' });

  test('is written on the step, and the letter stays open until the work was claimed and reported', () => {
    expect(replayed.step('a').replayOf).toBe('letter-1');
    expect(replayed.step('b').replayOf).toBeNull();
    const claimed = replayed.start('a');
    expect(claimed.told).not.toContain('letter_closed a');
    const reported = claimed.succeed('a');
    expect(reported.told).toEqual(['letter_closed a', 'step_succeeded a', 'step_readied b']);
    expect(reported.step('a').replayOf).toBeNull();
  });

  test('is not closed by a release or a silent claim', () => {
    const released = replayed.start('a').report('a', { outcome: 'released', reason: 'drain' });
    expect(released.told).toEqual(['step_released a']);
    expect(released.step('a').replayOf).toBe('letter-1');
    const claimed = replayed.start('a');
    const silent = claimed.later(30_000).when({ kind: 'lease_due', stepId: 'a', attempt: 2, claimId: 'claim-1' });
    expect(silent.step('a').replayOf).toBe('letter-1');
  });

  test('that fails again closes the old letter and writes a new one', () => {
    const again = replayed.start('a').fail('a', errorOf('terminal'));
    expect(again.told.slice(0, 3)).toEqual(['letter_closed a', 'step_failed a', 'letter_written a']);
  });

  test('of a verdict is closed by the next verdict', () => {
    const rejected = given(judged()).run('work').run('check', verdictOf('reject'));
    const second = retry(rejected, { letterId: 'letter-2', stepId: 'check' });
    expect(second.step('check#2').replayOf).toBe('letter-2');
    expect(second.step('work#2').replayOf).toBeNull();
    const passed = second.run('work#2').run('check#2', verdictOf('pass'));
    expect(passed.told).toEqual(['letter_closed check#2', 'step_succeeded check#2', 'task_completed']);
  });

  test('of a letter of a completed task is refused', () => {
    const done = given(chain('a')).run('a');
    expect(retry(done, { letterId: 'letter-1', stepId: 'a' }).events).toMatchObject([
      { kind: 'refused', code: 'ALREADY_COMPLETED' },
    ]);
  });
});
