import { describe, expect, test } from 'vitest';
import { chain, errorOf, given, judged, type Story, verdictOf } from './testing.ts';
import { toTransition } from './to-outgoing.ts';

const record = (story: Story) => story.changes.map(toTransition).filter((row) => row !== null);
const brief = (story: Story) =>
  record(story).map((row) => `${row.stepId ?? 'task'}: ${row.from} → ${row.to} on ${row.trigger}`);

describe('the ledger’s record of a change', () => {
  test('begins with the task accepted', () => {
    expect(brief(given(chain('a')))).toEqual(['task: null → pending on submit_accepted']);
  });

  test('names every change of a state and its trigger, and nothing else', () => {
    const accepted = given(judged());
    const dispatched = accepted.dispatch('work');
    const claimed = dispatched.claim('work');
    const worked = claimed.succeed('work', { n: 1 });
    const checked = worked.run('check', verdictOf('rework', 'x'));
    expect(brief(dispatched)).toEqual(['task: pending → executing on first_step_dispatched']);
    expect(brief(claimed)).toEqual(['work: pending → executing on claim_granted']);
    expect(brief(worked)).toEqual([
      'work: executing → completed on report_succeeded',
      'task: executing → awaiting_validation on validation_asked',
    ]);
    expect(brief(checked)).toEqual([
      'check: executing → completed on report_succeeded',
      'task: awaiting_validation → executing on verdict_rework',
    ]);
    const passed = checked.run('work#2', { n: 2 }).run('check#2', verdictOf('pass'));
    expect(brief(passed)).toEqual([
      'check#2: executing → completed on report_succeeded',
      'task: awaiting_validation → completed on verdict_pass',
    ]);
  });

  test('names attempt, spent, claim, worker and code of a step', () => {
    const failed = given(chain('a'))
      .start('a')
      .fail('a', errorOf('retryable', { code: 'MODEL_DOWN' }));
    expect(record(failed)).toEqual([
      {
        stepId: 'a',
        from: 'executing',
        to: 'pending',
        trigger: 'report_failed',
        attempt: 1,
        spent: 1,
        round: 1,
        claimId: 'claim-1',
        worker: 'w1',
        code: 'MODEL_DOWN',
      },
    ]);
  });

  test('tells a drain from a silent claim, and a failed step from those that ended with it', () => {
    const running = given(chain('a', 'b')).start('a');
    expect(brief(running.report('a', { outcome: 'released', reason: 'drain' }))).toEqual([
      'a: executing → pending on released',
    ]);
    const silent = running.later(30_000).when({ kind: 'lease_due', stepId: 'a', attempt: 1, claimId: 'claim-1' });
    expect(brief(silent)).toEqual(['a: executing → pending on silent_claim']);
    expect(brief(running.fail('a', errorOf('terminal')))).toEqual([
      'a: executing → failed on report_failed',
      'b: pending → failed on dependency_failed',
      'task: executing → failed on report_failed',
    ]);
  });

  test('tells of a retry: task and failed steps back to pending', () => {
    const failed = given(chain('a', 'b')).start('a').fail('a', errorOf('terminal'));
    expect(brief(failed.when({ kind: 'retry', letter: null }))).toEqual([
      'task: failed → pending on retry',
      'a: failed → pending on retry',
      'b: failed → pending on retry',
    ]);
  });

  test('is silent where an input changed nothing', () => {
    const running = given(chain('a')).start('a');
    expect(record(running.fail('a', errorOf('terminal')).dispatch('a'))).toEqual([]);
    expect(record(running.report('a', { outcome: 'released', reason: 'x' }, { claimId: 'other' }))).toEqual([]);
  });
});
