import { describe, expect, test } from 'vitest';
import { chain, given, judged, type Story, USAGE, verdictOf } from './testing.ts';

const outputOf = (n: number) => ({ outcome: 'succeeded' as const, output: { n }, usage: USAGE, candidates: [] });
const first = given(chain('a', 'b')).start('a').beat('a');
const fence = first.fence('a');
const again = (story: Story) => story.later(9_000).when({ kind: 'backoff_due', stepId: 'a' });

describe('reports out of order (case A25)', () => {
  const expired = first.later(30_000).when({ kind: 'lease_due', stepId: 'a', attempt: 1, claimId: fence.claimId });
  const second = again(expired).dispatch('a').claim('a', { claimId: 'claim-2' });

  test('the older attempt’s comes while the newer one runs: it is stale, and on record', () => {
    const late = second.report('a', outputOf(1), fence);
    expect(late.events).toMatchObject([{ kind: 'refused', code: 'STALE_ATTEMPT', attempt: 1 }]);
    expect(late.report('a', outputOf(2)).step('a').output).toEqual({ n: 2 });
  });

  test('the older attempt’s comes last: the newer result stays', () => {
    const done = second.report('a', outputOf(2));
    const late = done.report('a', outputOf(1), fence);
    expect(late.events).toMatchObject([{ kind: 'refused', code: 'STALE_ATTEMPT' }]);
    expect(late.state).toBe(done.state);
    expect(late.step('a').output).toEqual({ n: 2 });
  });

  test('an older round’s verdict comes after the newer one', () => {
    const worked = given(judged()).run('work', { n: 1 }).start('check');
    const old = worked.fence('check');
    const reworked = worked.succeed('check', verdictOf('rework', 'x')).run('work#2', { n: 2 });
    const passed = reworked.run('check#2', verdictOf('pass'));
    const late = passed.report('check', { ...outputOf(0), output: verdictOf('reject') }, old);
    expect(late.state).toBe(passed.state);
    expect(late.state.task.state).toBe('completed');
  });
});

describe('one completion, told twice (case E13)', () => {
  test('is applied once; the repetition changes nothing and is no refusal', () => {
    const done = first.report('a', outputOf(1));
    const twice = done.report('a', outputOf(1), fence);
    expect(twice.events).toEqual([]);
    expect(twice.state).toBe(done.state);
  });

  test.each([
    ['the deadline', { kind: 'deadline_due' } as const],
    ['a cancel', { kind: 'cancel', reason: 'enough' } as const],
  ])('of a task that %s has failed meanwhile follows the rule: refused, and on record', (_name, input) => {
    const failed = first.later(3_600_000).when(input);
    const late = failed.report('a', outputOf(1), fence);
    expect(late.events).toMatchObject([{ kind: 'refused', code: 'STALE_ATTEMPT', stepId: 'a' }]);
    expect(late.state).toBe(failed.state);
  });
});
