import { expect, test } from 'vitest';
import { chain, errorOf, given, planOf, planStep, type Story } from './testing.ts';

const HOURS_2 = 2 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** An attempt that finds its dependency away, and the back-off after it. */
function runInto(story: Story, outage: (story: Story) => Story): Story {
  const failed = outage(story.start('a').beat('a'));
  const { phase, dueAt } = failed.step('a');
  expect(phase).toBe('backing_off');
  return failed.later((dueAt ?? 0) - failed.now).when({ kind: 'backoff_due', stepId: 'a' });
}

const patient = planOf([planStep('a', [], { queueTtlMs: DAY_MS }), planStep('b', ['a'])]);

test.each<[name: string, outage: (story: Story) => Story]>([
  ['a model endpoint (pause)', (story) => story.fail('a', errorOf('pause', { code: 'MODEL_UNAVAILABLE' }))],
  ['the database', (story) => story.fail('a', errorOf('retryable', { code: 'DATABASE_UNAVAILABLE' }))],
  ['the broker', (story) => story.fail('a', errorOf('retryable', { code: 'BROKER_UNAVAILABLE' }))],
])(
  'two hours without %s, in virtual time: no attempt is spent, no letter written, and the work goes on',
  (_, outage) => {
    let story = given(patient, { deadlineMs: DAY_MS });
    const begun = story.now;
    const written = new Set<string>();
    while (story.now - begun < HOURS_2) {
      const before = story.now;
      story = runInto(story, outage);
      for (const event of story.events) written.add(event.kind);
      // Neither a hot loop nor a stall.
      expect(story.now - before).toBeGreaterThanOrEqual(500);
      expect(story.now - before).toBeLessThanOrEqual(60_000);
      expect(story.step('a').spent).toBe(0);
    }
    expect(story.step('a').attempt).toBeGreaterThan(100);
    expect(written).not.toContain('letter_written');
    // What is kept of each attempt must not grow with the outage.
    expect(JSON.stringify(story.state).length).toBeLessThan(20_000);
    story = story.run('a').run('b');
    expect(story.state.task.state).toBe('completed');
    expect(story.state.steps.map(({ spent }) => spent)).toEqual([0, 0]);
  },
);

test('after an outage a real failure still has all its attempts', () => {
  let story = given(chain('a'), { deadlineMs: DAY_MS });
  for (let n = 0; n < 50; n++) story = runInto(story, (s) => s.fail('a', errorOf('pause')));
  for (let n = 0; n < 2; n++) story = runInto(story, (s) => s.fail('a'));
  story = story.start('a').fail('a');
  expect(story.state.task).toMatchObject({ state: 'failed', error: { code: 'ATTEMPTS_EXHAUSTED' } });
  expect(story.step('a').spent).toBe(3);
});

test('the deadline is what ends an outage that never does', () => {
  let story = given(patient, { deadlineMs: 600_000 });
  while (story.now < story.state.task.deadline) {
    const failed = story.start('a').beat('a').fail('a', errorOf('pause'));
    expect(failed.step('a').dueAt).toBeLessThanOrEqual(failed.state.task.deadline);
    story = failed.later((failed.step('a').dueAt ?? 0) - failed.now).when({ kind: 'backoff_due', stepId: 'a' });
  }
  story = story.when({ kind: 'deadline_due' });
  expect(story.state.task).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
  expect(story.step('a').spent).toBe(0);
});
