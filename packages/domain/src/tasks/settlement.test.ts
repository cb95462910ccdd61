import { KnowledgeSettle } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { toSettlement } from './settlement.ts';
import { chain, errorOf, given, judged, type Story, USAGE, verdictOf } from './testing.ts';

const proposing = (story: Story, stepId: string, ...candidates: string[]) =>
  story.start(stepId).report(stepId, { outcome: 'succeeded', output: { candidates }, usage: USAGE, candidates });

function settle(story: Story) {
  const settlement = toSettlement(story.state);
  return settlement === null ? null : KnowledgeSettle.data.parse(settlement);
}

describe('what the maintainer is told of a finished task', () => {
  test('is nothing where nobody proposed anything and no attempt was repeated', () => {
    expect(settle(given(chain('a', 'b')).run('a').run('b'))).toBeNull();
  });

  test('is that nothing won where the only attempt failed, or was called off while it ran: it may have proposed before', () => {
    const running = given(chain('a', 'b')).start('a');
    for (const over of [running.fail('a', errorOf('terminal')), running.when({ kind: 'cancel', reason: '' })])
      expect(settle(over)).toMatchObject({ verdict: 'held', claims: [] });
    expect(settle(given(chain('a')).when({ kind: 'cancel', reason: '' }))).toBeNull();
  });

  test('is the winning claims and the validator’s score when the verdict was pass', () => {
    const passed = proposing(given(judged()), 'work', 'c1', 'c2').run('check', verdictOf('pass'));
    expect(settle(passed)).toEqual({
      taskId: 'task-1',
      verdict: 'passed',
      validatorScore: 0.8,
      claims: [
        { stepId: 'work', attempt: 1, claimId: 'claim-1', candidates: ['c1', 'c2'] },
        { stepId: 'check', attempt: 1, claimId: 'claim-1', candidates: [] },
      ],
      reads: [],
      answer: null,
    });
  });

  test('is "unvalidated" where the plan has no validation', () => {
    expect(settle(proposing(given(chain('a')), 'a', 'c1'))).toMatchObject({
      verdict: 'unvalidated',
      validatorScore: null,
    });
  });

  test('is "unvalidated" where a person put something else in the place of what passed', () => {
    const gate = { after: 'validation', expiresMs: 600_000, onExpiry: 'reject' } as const;
    const passed = proposing(given({ ...judged(), gate }), 'work', 'c1').run('check', verdictOf('pass'));
    const { sha256 = '' } = passed.state.task.gate ?? {};
    const edited = passed.when({ kind: 'gate', action: 'edit', sha256, result: { n: 2 } });
    expect(edited.state.task).toMatchObject({ state: 'completed', result: { n: 2 } });
    expect(settle(edited)).toMatchObject({ verdict: 'unvalidated', validatorScore: 0.8 });
    expect(settle(passed.when({ kind: 'gate', action: 'approve', sha256 }))).toMatchObject({ verdict: 'passed' });
  });

  test('is "held" for a failed task', () => {
    const failed = proposing(given(judged()), 'work', 'c1').run('check', verdictOf('reject'));
    expect(settle(failed)).toMatchObject({ verdict: 'held', validatorScore: 0.8 });
    const cancelled = proposing(given(judged()), 'work', 'c1').when({ kind: 'cancel', reason: '' });
    expect(settle(cancelled)).toMatchObject({ verdict: 'held', validatorScore: null });
    expect(settle(cancelled)?.claims.map((claim) => claim.stepId)).toEqual(['work']);
  });

  test('names the winning attempt where an attempt was repeated, so that the lost one’s candidates are dropped', () => {
    const again = given(chain('a')).start('a').fail('a').later(9_000).when({ kind: 'backoff_due', stepId: 'a' });
    const done = again.dispatch('a').claim('a', { claimId: 'second' }).succeed('a');
    expect(settle(done)?.claims).toEqual([{ stepId: 'a', attempt: 2, claimId: 'second', candidates: [] }]);
    const failed = again.start('a').fail('a', errorOf('terminal'));
    expect(settle(failed)).toMatchObject({ verdict: 'held', claims: [] });
  });

  test('leaves out what a verdict sent back', () => {
    const second = proposing(given(judged()), 'work', 'wrong').run('check', verdictOf('rework', 'x'));
    const passed = proposing(second, 'work#2', 'right').run('check#2', verdictOf('pass'));
    expect(settle(passed)?.claims.map((claim) => [claim.stepId, claim.candidates])).toEqual([
      ['work#2', ['right']],
      ['check#2', []],
    ]);
  });
});
