import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import { chain, errorOf, given, judged, OPTIONS, planOf, planStep, type Story, storyAt } from './testing.ts';

const accepted = given(chain('a', 'b'));
const dispatched = accepted.dispatch('a');
const running = dispatched.claim('a');

const leaseDue = (story: Story, change: { attempt?: number; claimId?: string } = {}) =>
  story.when({ kind: 'lease_due', stepId: 'a', attempt: story.step('a').attempt, claimId: 'claim-1', ...change });
const timeoutDue = (story: Story, attempt = 1) => story.when({ kind: 'attempt_timeout_due', stepId: 'a', attempt });

describe('dispatch', () => {
  test('of the first step starts the task, with attempt 1, ring 1 and a ring check', () => {
    expect(dispatched.told).toEqual(['task_started', 'step_dispatched a']);
    expect(dispatched.step('a')).toMatchObject({
      state: 'pending',
      phase: 'dispatched',
      attempt: 1,
      ring: 1,
      dueAt: dispatched.now + OPTIONS.ringCheckMs,
      queueExpiresAt: dispatched.now + 600_000,
    });
  });

  test.each(['b', 'nobody'])('of a step that is not ready changes nothing (%s)', (stepId) => {
    expect(accepted.dispatch(stepId).events).toEqual([]);
  });

  test('twice changes nothing', () => {
    expect(dispatched.dispatch('a').events).toEqual([]);
    expect(running.dispatch('a').events).toEqual([]);
  });

  test('of the validation step finds the task waiting for it', () => {
    const worked = given(judged()).run('work');
    expect(worked.told).toEqual(['step_succeeded work', 'task_validating', 'step_readied check']);
    expect(worked.state.task.state).toBe('awaiting_validation');
    expect(worked.dispatch('check').told).toEqual(['step_dispatched check']);
  });
});

describe('a silent claim', () => {
  test('is free three times, then each one counts', () => {
    let story = accepted;
    for (let silent = 1; silent <= 3; silent++) {
      story = leaseDue(story.start('a').later(OPTIONS.leaseMs));
      expect(story.told).toEqual(['step_released a']);
      expect(story.step('a')).toMatchObject({ phase: 'ready', spent: 0, silentClaims: silent, attempt: silent });
    }
    for (let spent = 1; spent <= 2; spent++) {
      story = leaseDue(story.start('a').later(OPTIONS.leaseMs));
      expect(story.told).toEqual(['step_backed_off a']);
      expect(story.step('a')).toMatchObject({ spent, error: { code: 'LEASE_EXPIRED' } });
      story = story.later(10_000).when({ kind: 'backoff_due', stepId: 'a' });
    }
    story = leaseDue(story.start('a').later(OPTIONS.leaseMs));
    expect(story.state.task).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
    expect(story.step('a').attempt).toBe(6);
  });

  test('is told in the history and in the letter, though it spent nothing: a step may be what ends its workers', () => {
    let story = accepted;
    for (let silent = 1; silent <= OPTIONS.silentClaims; silent++)
      story = leaseDue(story.start('a').later(OPTIONS.leaseMs));
    const message = (n: number) =>
      `worker w1 took it and went silent before its first heartbeat: nothing spent (${n} of 3)`;
    expect(story.step('a').failures.map(({ attempt, error }) => [attempt, error.code, error.message])).toEqual([
      [1, 'LEASE_EXPIRED', message(1)],
      [2, 'LEASE_EXPIRED', message(2)],
      [3, 'LEASE_EXPIRED', message(3)],
    ]);
    expect(story.step('a').error).toMatchObject({ message: message(3) });
    const counted = leaseDue(story.start('a').later(OPTIONS.leaseMs));
    expect(counted.step('a').error?.message).toBe(
      'worker w1 was not heard of for 30000 ms; 3 claims that went silent before it spent nothing',
    );
  });

  test('counts from the first on where none is free', () => {
    const { state, now } = running.later(OPTIONS.leaseMs);
    const due = { kind: 'lease_due', stepId: 'a', attempt: 1, claimId: 'claim-1' } as const;
    const { changes } = decide(state, due, now, { ...OPTIONS, silentClaims: 0 });
    expect(changes.map(({ event }) => event)).toMatchObject([{ kind: 'step_backed_off', spends: true }]);
  });

  test('counts at once when a heartbeat had named it', () => {
    const lost = leaseDue(running.beat('a').later(OPTIONS.leaseMs));
    expect(lost.told).toEqual(['step_backed_off a']);
    expect(lost.step('a')).toMatchObject({ spent: 1, silentClaims: 0 });
  });

  test('is left alone while its lease runs, also when the clock went back', () => {
    expect(leaseDue(running.later(OPTIONS.leaseMs - 1)).events).toEqual([]);
    expect(leaseDue(running.later(-5_000)).events).toEqual([]);
    expect(leaseDue(running.later(20_000).beat('a').later(15_000)).events).toEqual([]);
  });

  test.each([{ attempt: 2 }, { attempt: 0 }, { claimId: 'other' }])(
    'of another attempt changes nothing: %j',
    (change) => {
      expect(leaseDue(running.later(OPTIONS.leaseMs), change).events).toEqual([]);
    },
  );

  test('that was reported or released meanwhile changes nothing', () => {
    for (const story of [running.succeed('a'), running.fail('a'), leaseDue(running.later(OPTIONS.leaseMs))])
      expect(leaseDue(story.later(OPTIONS.leaseMs)).events).toEqual([]);
  });
});

describe('the attempt timeout', () => {
  test('spends an attempt, whether the worker is heard of or not', () => {
    const over = timeoutDue(running.later(60_000).beat('a'));
    expect(over.told).toEqual(['step_backed_off a']);
    expect(over.step('a')).toMatchObject({ spent: 1, error: { code: 'ATTEMPT_TIMEOUT' }, timeoutAt: null });
  });

  test('is not over early, nor for another attempt, nor twice', () => {
    expect(timeoutDue(running.later(59_999)).events).toEqual([]);
    expect(timeoutDue(running.later(60_000), 2).events).toEqual([]);
    expect(timeoutDue(timeoutDue(running.later(60_000))).events).toEqual([]);
  });

  test('leaves the end to the deadline once that has come', () => {
    const late = given(chain('a'), { deadlineMs: 10_000 }).start('a').later(10_000);
    expect(timeoutDue(late).events).toEqual([]);
    expect(late.when({ kind: 'deadline_due' }).state.task.error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });
});

describe('back-off', () => {
  test('ends when due, and the next attempt is a new one', () => {
    const failed = running.fail('a');
    const due = (failed.step('a').dueAt ?? 0) - failed.now;
    expect(failed.later(due - 1).when({ kind: 'backoff_due', stepId: 'a' }).events).toEqual([]);
    const ready = failed.later(due).when({ kind: 'backoff_due', stepId: 'a' });
    expect(ready.told).toEqual(['step_readied a']);
    expect(ready.when({ kind: 'backoff_due', stepId: 'a' }).events).toEqual([]);
    expect(ready.dispatch('a').step('a')).toMatchObject({ attempt: 2, spent: 1, ring: 1 });
  });
});

describe("the queue's time-to-live", () => {
  const queueDue = (story: Story) => story.when({ kind: 'queue_due', stepId: 'a' });

  test('runs from the first dispatch and ends step and task, with a letter', () => {
    expect(queueDue(accepted.later(10_000_000)).events).toEqual([]);
    expect(queueDue(dispatched.later(599_999)).events).toEqual([]);
    const over = queueDue(dispatched.later(600_000));
    expect(over.told).toEqual(['step_failed a', 'letter_written a', 'step_failed b', 'task_failed']);
    expect(over.state.task.error).toMatchObject({ code: 'QUEUE_EXPIRED' });
    expect(queueDue(over).events).toEqual([]);
  });

  test('does not end a step that a worker is at', () => {
    expect(queueDue(running.later(600_000)).events).toEqual([]);
  });

  test('keeps running for work that no worker can read, and then says so', () => {
    const released = running.report('a', { outcome: 'released', reason: 'UNSUPPORTED_VERSION', dueInMs: 30_000 });
    expect(released.step('a').queueExpiresAt).toBe(dispatched.step('a').queueExpiresAt);
    const over = queueDue(released.later(600_000));
    expect(over.state.task.error).toMatchObject({ code: 'UNSUPPORTED_VERSION', disposition: 'terminal' });
    const ready = released.later(30_000).when({ kind: 'backoff_due', stepId: 'a' });
    expect(queueDue(ready.later(600_000)).state.task.state).toBe('failed');
    expect(ready.dispatch('a').step('a').queueExpiresAt).toBe(dispatched.step('a').queueExpiresAt);
  });

  test('keeps running in an outage, and names its last error', () => {
    const over = queueDue(running.fail('a', errorOf('pause', { message: 'model away' })).later(600_000));
    expect(over.state.task.error).toMatchObject({ code: 'QUEUE_EXPIRED' });
    expect(over.state.task.error?.message).toContain('model away');
  });

  test('begins anew after an attempt that counted, and after a drain: time at work is no time in the queue', () => {
    const worked = running.beat('a').later(599_000);
    for (const back of [worked.fail('a'), worked.report('a', { outcome: 'released', reason: 'drain' })]) {
      const later = back.later(8_000).when({ kind: 'backoff_due', stepId: 'a' });
      expect(queueDue(later).events).toEqual([]);
      expect(later.dispatch('a').step('a').queueExpiresAt).toBe(later.now + 600_000);
    }
  });
});

describe('the ring check', () => {
  /** As the store notes the doorbell's place in the stream. */
  const withDoorbell = ({ state, now }: Story, doorbellSeq: number) =>
    storyAt({ ...state, steps: state.steps.map((step) => ({ ...step, doorbellSeq })) }, now);
  const check = (story: Story, gone: boolean, change: { attempt?: number; ring?: number } = {}) =>
    story.when({ kind: 'ring_due', stepId: 'a', attempt: 1, ring: 1, gone, ...change });

  test('rings again where the stream lost the doorbell', () => {
    const rung = check(withDoorbell(dispatched, 17).later(30_000), true);
    expect(rung.step('a').doorbellSeq).toBeNull();
    expect(rung.step('a')).toMatchObject({ phase: 'dispatched', attempt: 1, ring: 2, dueAt: rung.now + 30_000 });
    expect(check(rung.later(30_000), true).events).toEqual([]);
    expect(check(rung.later(30_000), true, { ring: 2 }).step('a').ring).toBe(3);
  });

  test('only sets the next check where the doorbell still hangs', () => {
    const checked = check(withDoorbell(dispatched, 17).later(30_000), false);
    expect(checked.step('a')).toMatchObject({ ring: 1, doorbellSeq: 17, dueAt: checked.now + 30_000 });
  });

  test('gives up, with a letter, on an attempt whose doorbells vanish again and again', () => {
    let story = dispatched;
    for (let ring = 1; ring < OPTIONS.maxRings; ring++) story = check(story.later(30_000), true, { ring });
    expect(story.step('a')).toMatchObject({ phase: 'dispatched', ring: OPTIONS.maxRings });
    expect(check(story.later(30_000), false, { ring: OPTIONS.maxRings }).step('a').phase).toBe('dispatched');
    const over = check(story.later(30_000), true, { ring: OPTIONS.maxRings });
    expect(over.told.slice(0, 2)).toEqual(['step_failed a', 'letter_written a']);
    expect(over.state.task).toMatchObject({ state: 'failed', error: { code: 'RINGS_EXHAUSTED' } });
  });

  test('changes nothing early, for another attempt, or once claimed', () => {
    expect(check(dispatched.later(29_999), true).events).toEqual([]);
    expect(check(dispatched.later(30_000), true, { attempt: 2 }).events).toEqual([]);
    expect(check(running.later(30_000), true).events).toEqual([]);
  });
});

describe('the deadline', () => {
  test('ends every active step with its code and, where it had begun to move, a letter', () => {
    const over = running.later(3_600_000).when({ kind: 'deadline_due' });
    expect(over.told).toEqual(['step_failed a', 'letter_written a', 'step_failed b', 'task_failed']);
    expect(over.step('a').error?.code).toBe('DEADLINE_EXCEEDED');
    expect(over.step('b').error?.code).toBe('DEADLINE_EXCEEDED');
    expect(over.step('a').spent).toBe(0);
    expect(over.when({ kind: 'deadline_due' }).events).toEqual([]);
  });

  test('is not over early, and comes too late for a task that is done', () => {
    expect(running.later(3_599_999).when({ kind: 'deadline_due' }).events).toEqual([]);
    const done = given(chain('a')).run('a').later(3_600_000);
    expect(done.when({ kind: 'deadline_due' }).events).toEqual([]);
  });

  test('bounds a back-off', () => {
    const short = given(planOf([planStep('a', [], { retry: { maxAttempts: 9, baseMs: 60_000, maxMs: 60_000 } })]), {
      deadlineMs: 10_000,
    });
    expect(short.start('a').fail('a').step('a').dueAt).toBe(short.state.task.deadline);
  });
});
