import { ClaimAnswer, type StepReport } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { answerClaim } from './decide-claim.ts';
import { chain, errorOf, given, OPTIONS, type Story, storyAt, USAGE } from './testing.ts';

const dispatched = given(chain('a')).dispatch('a');

function answer(story: Story, fence = story.fence('a')) {
  const answered = answerClaim(story.state, fence, story.now, OPTIONS);
  return ClaimAnswer.parse(answered);
}

describe('a claim on a dispatched attempt', () => {
  test('is granted to the first who asks, with lease and time left', () => {
    const claimed = dispatched.later(1_000).claim('a', { claimId: 'mine' });
    expect(claimed.told).toEqual(['step_claimed a']);
    expect(claimed.step('a')).toMatchObject({ state: 'executing', phase: 'executing', claimId: 'mine', worker: 'w1' });
    expect(claimed.step('a').dueAt).toBe(claimed.now + OPTIONS.leaseMs);
    expect(answer(claimed)).toEqual({
      attempt: { epoch: 1, tenantId: 'acme', taskId: 'task-1', stepId: 'a', attempt: 1 },
      claimId: 'mine',
      answer: 'granted',
      leaseMs: 30_000,
      remainingMs: 60_000,
      deadline: new Date(claimed.state.task.deadline).toISOString(),
    });
  });

  test('is granted again to the winning id, and nothing changes', () => {
    const claimed = dispatched.claim('a', { claimId: 'mine' });
    const again = claimed.later(10_000).claim('a', { claimId: 'mine' });
    expect(again.events).toEqual([]);
    expect(again.step('a').dueAt).toBe(claimed.step('a').dueAt);
    expect(answer(again)).toMatchObject({ answer: 'granted', remainingMs: 50_000 });
  });

  test('comes too late once the deadline is reached, however late its timer is: a result handed in with it is none', () => {
    const late = dispatched.later(dispatched.state.task.deadline - dispatched.now).claim('a', { claimId: 'mine' });
    expect(late.state.task).toMatchObject({ state: 'failed', error: { code: 'DEADLINE_EXCEEDED' } });
    expect(answer(late, late.fence('a', { claimId: 'mine' })).answer).toBe('over');
  });

  test('is lost to everyone else', () => {
    const claimed = dispatched.claim('a', { claimId: 'mine' });
    const other = claimed.claim('a', { claimId: 'other' });
    expect(other.events).toEqual([]);
    expect(answer(other, other.fence('a', { claimId: 'other' }))).toMatchObject({ answer: 'lost' });
  });

  test.each([
    ['another epoch', { epoch: 2 }],
    ['an attempt that is over', { attempt: 0 }],
    ['an attempt that is not dispatched yet', { attempt: 2 }],
  ])('changes nothing and is over for %s', (_name, change) => {
    const fence = dispatched.fence('a', change);
    const refused = dispatched.when({ kind: 'claim', fence, worker: 'w1' });
    expect(refused.events).toEqual([]);
    expect(refused.step('a').phase).toBe('dispatched');
    expect(answerClaim(refused.state, fence, refused.now, OPTIONS).answer).toBe('over');
  });

  test('is over for a step or a task that nobody knows', () => {
    const fence = { ...dispatched.fence('a'), stepId: 'b' };
    expect(dispatched.when({ kind: 'claim', fence, worker: 'w1' }).events).toEqual([]);
    expect(answerClaim(dispatched.state, fence, dispatched.now, OPTIONS).answer).toBe('over');
    expect(answerClaim(undefined, fence, dispatched.now, OPTIONS).answer).toBe('over');
  });

  test('is over once the attempt was reported, taken back or cancelled', () => {
    const claimed = dispatched.claim('a', { claimId: 'mine' });
    const fence = claimed.fence('a');
    const stories = [
      claimed.succeed('a'),
      claimed.fail('a'),
      claimed.fail('a', errorOf('terminal')),
      claimed.when({ kind: 'cancel', reason: 'no longer wanted' }),
      claimed.later(OPTIONS.leaseMs).when({ kind: 'lease_due', stepId: 'a', attempt: 1, claimId: 'mine' }),
    ];
    for (const story of stories) {
      expect(answer(story, fence).answer).toBe('over');
      const again = story.when({ kind: 'claim', fence, worker: 'w1' });
      expect(again.events).toEqual([]);
      expect(again.state).toBe(story.state);
    }
  });

  test('has no more time than the task has', () => {
    const late = given(chain('a'), { deadlineMs: 20_000 }).dispatch('a').later(15_000).claim('a');
    expect(late.step('a').timeoutAt).toBe(late.state.task.deadline);
    expect(answer(late).remainingMs).toBe(5_000);
    expect(answer(late.later(9_000)).remainingMs).toBe(1);
  });

  test('stays on record after the attempt, until the next dispatch', () => {
    const failed = dispatched.claim('a', { claimId: 'mine' }).fail('a').later(1_000);
    expect(failed.step('a').claimId).toBe('mine');
    const second = failed.when({ kind: 'backoff_due', stepId: 'a' }).dispatch('a');
    expect(second.step('a')).toMatchObject({ attempt: 2, claimId: null, worker: null, beaten: false });
  });

  test('is not to be had, nor reported on, by a worker of another role', () => {
    const fence = dispatched.fence('a', { claimId: 'theirs' });
    const refused = dispatched.when({ kind: 'claim', fence, worker: 'w2', role: 'validator' });
    expect(refused.events).toEqual([]);
    expect(answer(refused, fence).answer).toBe('over');
    const claimed = dispatched.when({ kind: 'claim', fence, worker: 'w1', role: 'analyzer' });
    expect(claimed.told).toEqual(['step_claimed a']);
    const report: StepReport = { outcome: 'succeeded', output: {}, usage: USAGE, candidates: [] };
    const foreign = claimed.when({ kind: 'report', fence, report, role: 'validator' });
    expect(foreign.events).toMatchObject([{ kind: 'refused', code: 'STALE_ATTEMPT' }]);
    expect(foreign.step('a').phase).toBe('executing');
    expect(claimed.when({ kind: 'report', fence, report, role: 'analyzer' }).step('a').phase).toBe('done');
  });

  test('of a second attempt begins nothing anew: the step started with its first, and its doorbell is another', () => {
    const first = dispatched.claim('a');
    const known = { ...first.state, steps: first.state.steps.map((step) => ({ ...step, doorbellSeq: 7 })) };
    const second = storyAt(known, first.now)
      .fail('a')
      .later(1_000)
      .when({ kind: 'backoff_due', stepId: 'a' })
      .dispatch('a');
    expect(second.step('a')).toMatchObject({ doorbellSeq: null, ring: 1 });
    expect(second.claim('a').step('a').startedAt).toBe(first.step('a').startedAt);
  });
});
