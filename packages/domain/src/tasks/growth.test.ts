import type { Validation, Verdict } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { buildInput } from './mapping.ts';
import { errorOf, given, planOf, planStep, type Story, verdictOf } from './testing.ts';

const input = { all: { from: 'evidence' }, query: { from: 'feedback.0.evidence' } };
function story(change: Partial<Validation> = {}): Story {
  const plan = planOf(
    [
      planStep('find', [], { input }),
      planStep('work', ['find'], { input }),
      planStep('check', ['find', 'work'], { role: 'validator' }),
    ],
    { validation: { step: 'check', rework: ['work'], maxRounds: 5, ...change }, result: { from: 'steps.work.output' } },
  );
  return given(plan).run('find', { n: 0 }).run('work', { n: 1 });
}
function missing(...queries: readonly string[]): Verdict {
  const verdict = verdictOf('rework', ...queries);
  return { ...verdict, reasons: verdict.reasons.map((reason, i) => ({ ...reason, evidence: queries[i] ?? '' })) };
}
const inputOf = ({ state, step }: Story, stepId: string) => {
  const planned = state.plan.steps.find((each) => each.key === step(stepId).planKey);
  return planned === undefined ? undefined : buildInput(state, planned, step(stepId));
};

describe('missing evidence', () => {
  const evidence = { step: 'find', maxSteps: 7 };

  test('becomes a step for each query, which the rework waits for and reads', () => {
    const asked = story({ evidence }).run('check', missing('rate', 'term', 'rate'));
    expect(asked.told).toEqual([
      'step_succeeded check',
      'task_reworked',
      'step_added find#2',
      'step_added find#3',
      'step_added work#2',
      'step_added check#2',
      'step_readied find#2',
      'step_readied find#3',
    ]);
    expect(inputOf(asked, 'find#3')).toMatchObject({ query: 'term' });
    const found = asked.run('find#2', { is: 5 }).run('find#3', { is: 6 });
    expect(found.told).toEqual(['step_succeeded find#3', 'step_readied work#2']);
    expect(inputOf(found, 'work#2')?.['all']).toEqual([
      { query: 'rate', output: { is: 5 } },
      { query: 'term', output: { is: 6 } },
    ]);
    expect(found.run('work#2', { n: 2 }).run('check#2', verdictOf('pass')).state.task.state).toBe('completed');
  });

  test('never grows a task beyond its bound', () => {
    const asked = story({ evidence }).run('check', missing('a', 'b', 'c', 'd', 'e'));
    expect(asked.state.steps).toHaveLength(7);
    const next = asked.run('find#2').run('find#3').run('work#2', { n: 2 }).run('check#2', missing('f'));
    expect(next.state.steps.filter((step) => step.purpose === 'evidence')).toHaveLength(2);
  });

  test('that an earlier round did without is not looked for again by a retry', () => {
    const plan = planOf(
      [
        planStep('find', [], { input }),
        planStep('work', ['find'], { input }),
        planStep('check', ['work'], { role: 'validator', join: 'best_effort' }),
      ],
      {
        validation: { step: 'check', rework: ['work'], maxRounds: 5, evidence: { step: 'find', maxSteps: 10 } },
        result: { from: 'steps.check.output' },
      },
    );
    const asked = given(plan).run('find').run('work', { n: 1 }).run('check', missing('rate'));
    const without = asked.start('find#2').fail('find#2', errorOf('terminal')).run('check#2', missing('term'));
    const cancelled = without.when({ kind: 'cancel', reason: 'enough' });
    expect(cancelled.when({ kind: 'retry', letter: null }).told).toEqual([
      'task_reopened',
      'step_reopened find#3',
      'step_reopened work#3',
      'step_reopened check#3',
      'step_readied find#3',
    ]);
  });

  test('is only feedback where the plan does not say how to look for it', () => {
    expect(story().run('check', missing('a')).told).not.toContain('step_added find#2');
  });
});

describe('the budget of all rounds', () => {
  const spend = (at: Story, stepId: string, tokens: number, output: Verdict | { n: number }) =>
    at.start(stepId).report(stepId, {
      outcome: 'succeeded',
      output,
      candidates: [],
      usage: { durationMs: 1, inputTokens: tokens, outputTokens: tokens },
    });

  test('of tokens is summed over rounds and attempts; beyond it there is no further one', () => {
    const first = spend(story({ maxTokens: 100 }), 'check', 20, verdictOf('rework', 'a'));
    expect(first.told).toContain('task_reworked');
    const second = spend(first, 'work#2', 20, { n: 2 });
    const over = spend(second, 'check#2', 10, verdictOf('rework', 'b'));
    expect(over.state.task.error).toMatchObject({ code: 'VALIDATION_EXHAUSTED' });
    expect(over.state.task.error?.message).toContain('100 tokens used of 100');
    const anew = over.when({ kind: 'retry', letter: null });
    expect(anew.told).toContain('step_added work#3');
    // The retry's rounds have the whole budget again.
    const more = spend(anew.run('work#3', { n: 3 }), 'check#3', 10, verdictOf('rework', 'c'));
    expect(more.told).toContain('step_added work#4');
  });

  test('of time counts from the first verdict that was asked for', () => {
    const slow = story({ maxMs: 60_000 });
    expect(slow.later(59_999).run('check', verdictOf('rework', 'a')).told).toContain('task_reworked');
    const over = slow.later(60_000).run('check', verdictOf('rework', 'a'));
    expect(over.state.task.error?.message).toContain('60000 ms since the first verdict');
    expect(slow.later(60_000).run('check', verdictOf('pass')).state.task.state).toBe('completed');
  });
});

test('a validator that rejects, times out, crashes and babbles in turn: one count of rounds, one of faults (cases E11, E17)', () => {
  let at = story({ maxRounds: 3 });
  for (const [round, suffix] of [
    [1, ''],
    [2, '#2'],
    [3, '#3'],
  ] as const) {
    const check = `check${suffix}`;
    if (round > 1) at = at.run(`work${suffix}`, { n: round });
    at = at.start(check).later(60_000).when({ kind: 'attempt_timeout_due', stepId: check, attempt: 1 });
    expect(at.state.task).toMatchObject({ state: 'awaiting_validation', round });
    at = at.later(10_000).when({ kind: 'backoff_due', stepId: check });
    at = at.run(check, { text: 'I cannot fulfil this request' });
    expect(at.step(check)).toMatchObject({ phase: 'backing_off', spent: 2 });
    at = at.later(10_000).when({ kind: 'backoff_due', stepId: check });
    at = at.run(check, verdictOf('rework', `complaint ${round}`));
  }
  expect(at.state.task).toMatchObject({ state: 'failed', round: 3, error: { code: 'VALIDATION_EXHAUSTED' } });
  expect(at.told).toContain('letter_written check#3');
});
