import type { Join } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { judgeJoin, type Outcome } from './join.ts';
import { errorOf, given, planOf, planStep, type Story, verdictOf } from './testing.ts';

const OUTCOMES: Readonly<Record<string, Outcome>> = { o: 'open', d: 'done', s: 'skipped', f: 'failed' };
const outcomes = (letters: string) => [...letters].map((letter) => OUTCOMES[letter] ?? 'open');
const codes = (story: Story) => Object.fromEntries(story.state.steps.map((s) => [s.stepId, s.error?.code ?? s.phase]));
const broken = (story: Story, stepId: string) => story.start(stepId).fail(stepId, errorOf('terminal'));

describe('a join of predecessors (o open, d done, s skipped, f failed)', () => {
  test.each<[Join, string, string]>([
    ['all', '', 'ready'],
    ['all', 'dd', 'ready'],
    ['all', 'do', 'wait'],
    ['all', 'fo', 'failed'],
    ['all', 'ds', 'ready'],
    ['all', 'ss', 'skip'],
    ['all', 'so', 'wait'],
    ['any', 'do', 'ready'],
    ['any', 'fo', 'wait'],
    ['any', 'ff', 'failed'],
    ['any', 'fs', 'failed'],
    ['any', 'ss', 'skip'],
    [{ quorum: 2 }, 'dfo', 'wait'],
    [{ quorum: 2 }, 'ddo', 'ready'],
    [{ quorum: 2 }, 'ffo', 'failed'],
    // Only one was ever meant to run.
    [{ quorum: 2 }, 'dss', 'ready'],
    [{ quorum: 2 }, 'dfs', 'failed'],
    ['best_effort', 'do', 'wait'],
    ['best_effort', 'df', 'ready'],
    ['best_effort', 'ff', 'ready'],
    ['best_effort', 'ss', 'skip'],
  ])('%j of %s: %s', (join, letters, verdict) => {
    expect(judgeJoin(join, outcomes(letters))).toBe(verdict);
  });
});

describe('branches', () => {
  const racing = (join: Join) =>
    given(planOf([planStep('a'), planStep('b'), planStep('b2', ['b']), planStep('j', ['a', 'b2'], { join })]));

  test('that lost end as NOT_NEEDED with all that was only there for them; whoever runs one is told', () => {
    const won = racing('any').start('b').run('a');
    expect(won.told).toEqual(['step_succeeded a', 'step_readied j', 'step_failed b2', 'step_failed b']);
    expect(codes(won)).toMatchObject({ b: 'NOT_NEEDED', b2: 'NOT_NEEDED' });
    const late = won.report('b', { outcome: 'failed', error: errorOf('retryable') });
    expect(late.told).toEqual(['refused b']);
    expect(won.run('j').state.task.state).toBe('completed');
  });

  test('that failed fail their task only when its result can no longer be reached (case E10)', () => {
    const one = broken(racing('any'), 'b');
    expect(codes(one)).toMatchObject({ b: 'EXECUTOR_FAILED', b2: 'DEPENDENCY_FAILED', a: 'ready' });
    expect(one.told).toEqual(['step_failed b', 'letter_written b', 'step_failed b2']);
    expect(one.run('a').run('j').state.task.state).toBe('completed');
    const both = broken(one, 'a');
    expect(both.state.task).toMatchObject({ state: 'failed', error: { code: 'EXECUTOR_FAILED' } });
    expect(both.step('j').error).toMatchObject({ code: 'DEPENDENCY_FAILED', details: { step: 'a' } });
  });

  test('that the result is read from are needed, whatever a join says', () => {
    const plan = planOf([planStep('a'), planStep('b'), planStep('j', ['a', 'b'], { join: 'any' })], {
      result: { from: 'steps.b.output' },
    });
    const story = given(plan).run('a').run('j');
    expect(story.step('b').phase).toBe('ready');
    expect(story.run('b', { n: 1 }).state.task).toMatchObject({ state: 'completed', result: { n: 1 } });
    expect(broken(story, 'b').state.task.state).toBe('failed');
  });

  test('cannot pass a failure off as "not needed"', () => {
    const lying = given(planOf([planStep('a')]))
      .start('a')
      .fail('a', errorOf('terminal', { code: 'NOT_NEEDED' }));
    expect(lying.state.task.state).toBe('failed');
    expect(codes(lying)).toEqual({ a: 'EXECUTOR_FAILED' });
  });

  test('reopened by a retry are not run again where their join went on without them', () => {
    const plan = planOf([
      planStep('a'),
      planStep('b'),
      planStep('j', ['a', 'b'], { join: 'best_effort' }),
      planStep('end', ['j']),
    ]);
    const failed = broken(broken(given(plan), 'a').run('b').run('j'), 'end');
    const again = failed.when({ kind: 'retry', letter: null });
    expect(codes(again)).toMatchObject({ a: 'NOT_NEEDED', end: 'ready' });
    expect(again.run('end').state.task.state).toBe('completed');
  });
});

test('what a verdict did without is not opened by a retry; its letter is refused', () => {
  const plan = planOf(
    [
      planStep('a'),
      planStep('b'),
      planStep('j', ['a', 'b'], { join: 'best_effort' }),
      planStep('check', ['j'], { role: 'validator' }),
    ],
    { validation: { step: 'check', rework: ['j'], maxRounds: 2 }, result: { from: 'steps.j.output' } },
  );
  const rejected = broken(given(plan), 'a').run('b').run('j').run('check', verdictOf('reject', 'no'));
  const again = rejected.when({ kind: 'retry', letter: null });
  expect(again.told).not.toContain('step_reopened a');
  expect(codes(again)).toMatchObject({ a: 'EXECUTOR_FAILED', 'j#2': 'ready' });
  const replayed = rejected.when({ kind: 'retry', letter: { letterId: 'letter-1', stepId: 'a' } });
  expect(replayed.events).toMatchObject([{ kind: 'refused', code: 'ILLEGAL_TRANSITION' }]);
});

describe('conditions', () => {
  const when = { path: 'steps.a.output.n', atLeast: 2 };
  const plan = planOf([planStep('a'), planStep('b', ['a'], { when }), planStep('c', ['b'])]);

  test('that do not hold skip the step and what only follows from it; the task completes without a result', () => {
    const skipped = given(plan).run('a', { n: 1 });
    expect(codes(skipped)).toEqual({ a: 'done', b: 'NOT_NEEDED', c: 'NOT_NEEDED' });
    expect(skipped.state.task).toMatchObject({ state: 'completed', result: null });
  });

  test('that hold change nothing', () => {
    expect(given(plan).run('a', { n: 2 }).told).toEqual(['step_succeeded a', 'step_readied b']);
  });

  test.each([
    [{ path: 'input.kind', equals: 'lease' }, true],
    [{ path: 'input.kind', equals: 'sale' }, false],
    [{ path: 'input.none', exists: false }, true],
    [{ path: 'input.none', equals: null }, true],
    [{ path: 'input.kind', in: ['sale', 'lease'] }, true],
    [{ path: 'input.sum', atMost: 5 }, true],
    [{ path: 'input.kind', atMost: 5 }, false],
    [{ not: { path: 'input.kind', equals: 'lease' } }, false],
    [
      {
        all: [
          { path: 'input.sum', atLeast: 5 },
          { path: 'input.kind', exists: true },
        ],
      },
      true,
    ],
    [
      {
        any: [
          { path: 'input.sum', atLeast: 6 },
          { path: 'input.__proto__', exists: true },
        ],
      },
      false,
    ],
  ])('%j: %s', (condition, holds) => {
    const story = given(planOf([planStep('a', [], { when: condition })]), { input: { kind: 'lease', sum: 5 } });
    expect(story.state.task.state).toBe(holds ? 'pending' : 'completed');
  });
});
