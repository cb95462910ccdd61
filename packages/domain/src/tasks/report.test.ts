import type { StepReport } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { chain, DEADLINE_MS, diamond, errorOf, given, planOf, planStep, USAGE } from './testing.ts';

const running = given(chain('a', 'b')).start('a');
const success: StepReport = { outcome: 'succeeded', output: {}, usage: USAGE, candidates: [] };

describe('a report of success', () => {
  test('completes the step and readies what waited for it', () => {
    const done = running.report('a', { ...success, output: { x: 1 }, candidates: ['c1'] });
    expect(done.told).toEqual(['step_succeeded a', 'step_readied b']);
    expect(done.step('a')).toMatchObject({
      state: 'completed',
      phase: 'done',
      output: { x: 1 },
      candidates: ['c1'],
      dueAt: null,
    });
    expect(done.step('b')).toMatchObject({ state: 'pending', phase: 'ready' });
  });

  test('of the last step completes a task without validation, with its result', () => {
    const done = running.succeed('a').run('b', { answer: 42 });
    expect(done.told).toEqual(['step_succeeded b', 'task_completed']);
    expect(done.state.task).toMatchObject({ state: 'completed', result: { answer: 42 }, error: null });
  });

  test('after a failed attempt leaves no error on the step, only in its history', () => {
    const done = running.fail('a').later(1_000).when({ kind: 'backoff_due', stepId: 'a' }).run('a');
    expect(done.step('a')).toMatchObject({ state: 'completed', error: null });
    expect(done.step('a').failures).toMatchObject([{ attempt: 1, error: { code: 'EXECUTOR_FAILED' } }]);
  });
});

describe('a report without the right to one', () => {
  test('is a duplicate when its claim reported before: nothing changes, nothing is refused', () => {
    const fence = running.fence('a');
    for (const once of [running.succeed('a'), running.fail('a'), running.fail('a', errorOf('terminal'))]) {
      const twice = once.report('a', success, fence);
      expect(twice.events).toEqual([]);
      expect(twice.state).toBe(once.state);
    }
    expect(running.succeed('a').report('a', success, { ...fence, epoch: 2 }).told).toEqual(['refused a']);
    const released = running.report('a', { outcome: 'released', reason: 'drain' });
    expect(released.report('a', { outcome: 'released', reason: 'drain' }, fence).events).toEqual([]);
  });

  test.each([
    ['another claim', { claimId: 'other' }],
    ['another epoch', { epoch: 2 }],
    ['an attempt that is over', { attempt: 0 }],
    ['an attempt still to come', { attempt: 2 }],
  ])('is stale with %s', (_name, change) => {
    const refused = running.report('a', success, change);
    expect(refused.events).toMatchObject([{ kind: 'refused', code: 'STALE_ATTEMPT', stepId: 'a' }]);
    expect(refused.state).toBe(running.state);
  });

  test('is stale for a step nobody knows', () => {
    const fence = { ...running.fence('a'), stepId: 'zzz' };
    expect(running.when({ kind: 'report', fence, report: success }).events).toMatchObject([
      { kind: 'refused', code: 'STALE_ATTEMPT', stepId: 'zzz' },
    ]);
  });

  test('is stale from a worker that slept past its lease while another one finished (case B11, SIGSTOP)', () => {
    const fence = running.fence('a', { claimId: 'claim-1' });
    const lost = running
      .beat('a')
      .later(30_000)
      .when({ kind: 'lease_due', stepId: 'a', attempt: 1, claimId: 'claim-1' });
    expect(lost.report('a', success, fence).told).toEqual(['refused a']);
    const second = lost.later(10_000).when({ kind: 'backoff_due', stepId: 'a' }).dispatch('a');
    expect(second.report('a', success, fence).told).toEqual(['refused a']);
    const done = second.claim('a', { claimId: 'claim-2' }).succeed('a', { by: 2 });
    const late = done.report('a', { ...success, output: { by: 1 } }, fence);
    expect(late.told).toEqual(['refused a']);
    expect(late.step('a').output).toEqual({ by: 2 });
  });

  test('is stale, not a duplicate, from a branch that was ended by its sibling', () => {
    const both = given(diamond()).run('fork').start('left').start('right');
    const fence = both.fence('right');
    const failed = both.fail('left', errorOf('terminal'));
    expect(failed.report('right', success, fence).told).toEqual(['refused right']);
  });
});

describe('a report of failure', () => {
  test('that may be retried backs off, spends an attempt, and keeps the step accounted for', () => {
    const failed = running.fail('a');
    expect(failed.told).toEqual(['step_backed_off a']);
    expect(failed.step('a')).toMatchObject({ state: 'pending', phase: 'backing_off', spent: 1, timeoutAt: null });
    const wait = (failed.step('a').dueAt ?? 0) - failed.now;
    expect(wait).toBeGreaterThanOrEqual(500);
    expect(wait).toBeLessThanOrEqual(1_000);
  });

  test('waits as long as the error asks, at most until the deadline', () => {
    const asked = running.fail('a', errorOf('retryable', { retryAfterMs: 120_000 }));
    expect(asked.step('a').dueAt).toBe(asked.now + 120_000);
    const forever = running.fail('a', errorOf('retryable', { retryAfterMs: Number.MAX_SAFE_INTEGER }));
    expect(forever.step('a').dueAt).toBe(forever.state.task.deadline);
  });

  test('in an outage spends nothing, however often', () => {
    let story = running;
    for (let i = 0; i < 10; i++) {
      story = story.fail('a', errorOf('pause'));
      expect(story.step('a')).toMatchObject({ phase: 'backing_off', spent: 0 });
      expect((story.step('a').dueAt ?? 0) - story.now).toBeGreaterThanOrEqual(5_000);
      story = story.later(8_000).when({ kind: 'backoff_due', stepId: 'a' }).start('a');
    }
    expect(story.step('a').attempt).toBe(11);
  });

  test('keeps the last twenty failures and reports on record', () => {
    let story = running;
    for (let i = 0; i < 25; i++)
      story = story.fail('a', errorOf('pause')).later(8_000).when({ kind: 'backoff_due', stepId: 'a' }).start('a');
    expect(story.step('a').failures.map((failure) => failure.attempt)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 6),
    );
    expect(story.step('a').applied).toHaveLength(20);
  });

  test.each(['terminal', 'conflict'] as const)(
    'that is %s ends step and task at once, with a letter',
    (disposition) => {
      const failed = running.report('a', { outcome: 'failed', error: errorOf(disposition), raw: 'AAEC' });
      expect(failed.told).toEqual(['step_failed a', 'letter_written a', 'step_failed b', 'task_failed']);
      expect(failed.events[1]).toMatchObject({ raw: 'AAEC', error: { code: 'EXECUTOR_FAILED' } });
      expect(failed.step('a')).toMatchObject({ state: 'failed', spent: 1, dueAt: null });
      expect(failed.step('b').error).toMatchObject({ code: 'DEPENDENCY_FAILED' });
      expect(failed.state.task.error).toMatchObject({ code: 'EXECUTOR_FAILED', message: 'step "a": it broke' });
    },
  );

  test('without attempts left ends in ATTEMPTS_EXHAUSTED, which carries the last error', () => {
    let story = running;
    for (const message of ['first', 'second'])
      story = story
        .fail('a', errorOf('retryable', { message }))
        .later(10_000)
        .when({ kind: 'backoff_due', stepId: 'a' })
        .start('a');
    const exhausted = story.fail('a', errorOf('retryable', { code: 'MODEL_DOWN', message: 'third' }));
    expect(exhausted.step('a')).toMatchObject({ state: 'failed', attempt: 3, spent: 3 });
    expect(exhausted.step('a').error).toMatchObject({
      code: 'ATTEMPTS_EXHAUSTED',
      disposition: 'terminal',
      message: '3 attempts failed; the last: third',
      details: { last: { code: 'MODEL_DOWN', message: 'third' } },
    });
    expect(exhausted.state.task.state).toBe('failed');
    expect(exhausted.step('a').failures.map(({ attempt, error }) => [attempt, error.code])).toEqual([
      [1, 'EXECUTOR_FAILED'],
      [2, 'EXECUTOR_FAILED'],
      [3, 'MODEL_DOWN'],
    ]);
  });

  test.each(['BROKER_UNAVAILABLE', 'DATABASE_UNAVAILABLE'])(
    'of an outage (%s) spends nothing, however often',
    (code) => {
      let story = running;
      for (let n = 1; n <= 5; n++) {
        story = story.fail('a', errorOf('retryable', { code, retryAfterMs: 1_000 }));
        expect(story.step('a')).toMatchObject({ phase: 'backing_off', attempt: n, spent: 0 });
        story = story.later(10_000).when({ kind: 'backoff_due', stepId: 'a' }).start('a');
      }
    },
  );

  test('of a time-out at the deadline is the end by that deadline, whatever attempts are left', () => {
    for (const maxAttempts of [1, 3]) {
      const step = planStep('a', [], { timeoutMs: 2 * DEADLINE_MS, retry: { maxAttempts, baseMs: 1, maxMs: 1 } });
      const late = given(planOf([step]))
        .start('a')
        .later(DEADLINE_MS);
      const ended = late.fail('a', errorOf('retryable', { code: 'ATTEMPT_TIMEOUT' }));
      expect(ended.state.task).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
      expect(ended.step('a')).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
    }
  });

  test('of a step that may be tried once keeps its own code', () => {
    const once = planStep('a', [], { retry: { maxAttempts: 1, baseMs: 1, maxMs: 1 } });
    const failed = given(planOf([once]))
      .start('a')
      .fail('a');
    expect(failed.state.task.error).toMatchObject({ code: 'EXECUTOR_FAILED' });
  });
});

describe('a report of release', () => {
  test('on drain is dispatched again at once, nothing spent', () => {
    const released = running.report('a', { outcome: 'released', reason: 'drain' });
    expect(released.told).toEqual(['step_released a']);
    expect(released.step('a')).toMatchObject({ state: 'pending', phase: 'ready', spent: 0, error: null });
    expect(released.dispatch('a').step('a')).toMatchObject({ attempt: 2, claimId: null });
  });

  test('waits as long as it asks, at most until the deadline', () => {
    const later = running.report('a', { outcome: 'released', reason: 'drain', dueInMs: 7_000 });
    expect(later.step('a')).toMatchObject({ phase: 'backing_off', dueAt: later.now + 7_000 });
    const hostile = running.report('a', { outcome: 'released', reason: 'x', dueInMs: Number.MAX_SAFE_INTEGER });
    expect(hostile.step('a').dueAt).toBe(hostile.state.task.deadline);
    const past = running.later(DEADLINE_MS + 1).report('a', { outcome: 'released', reason: 'x', dueInMs: 7_000 });
    expect(past.step('a')).toMatchObject({ phase: 'ready', dueAt: past.now });
  });

  test.each(['UNSUPPORTED_VERSION', 'UNKNOWN_EXECUTOR'])('for %s waits, and says so on the step', (reason) => {
    const released = running.report('a', { outcome: 'released', reason });
    expect(released.step('a')).toMatchObject({
      phase: 'backing_off',
      dueAt: released.now + 5_000,
      spent: 0,
      error: { code: reason, disposition: 'pause', message: `worker w1 handed it back: ${reason}` },
    });
  });
});

test.each([0, 1])('a long message is cut between characters: the ledger refuses half a pair (%i)', (n) => {
  const message = `${'x'.repeat(n)}${'😀'.repeat(2_000)}`.slice(0, 4_000 - n);
  const { error } = running.fail('a', errorOf('terminal', { message })).state.task;
  expect(error?.message).toMatch(/^step "a": .*😀$/u);
  expect(error?.message.isWellFormed()).toBe(true);
});
