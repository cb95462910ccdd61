import type { Plan } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fork } from './fork.ts';
import { buildInput } from './mapping.ts';
import { errorOf, given, OPTIONS, planOf, planStep, type Story, storyAt, T0, verdictOf } from './testing.ts';

const input = { mine: { from: 'subGoal' }, found: { from: 'subGoals' }, asked: { from: 'evidence' } };
const growth = { from: 'plan', step: 'find', maxSteps: 6 };

function growing(change: Partial<Plan> = {}): Plan {
  return planOf(
    [
      planStep('plan'),
      planStep('find', ['plan'], { input }),
      planStep('work', ['find'], { input }),
      planStep('check', ['work'], { role: 'validator' }),
    ],
    {
      growth,
      result: { from: 'steps.work.output' },
      validation: { step: 'check', rework: ['work'], maxRounds: 3, evidence: { step: 'find', maxSteps: 12 } },
      ...change,
    },
  );
}

type SubGoal = { readonly id: string; readonly needs: readonly string[] };
const goal = (id: string, ...needs: readonly string[]): SubGoal => ({ id, needs });
const asking = (...subGoals: readonly SubGoal[]) => given(growing()).run('plan', { subGoals });
const inputOf = ({ state, step }: Story, stepId: string) => {
  const planned = state.plan.steps.find((each) => each.key === step(stepId).planKey);
  return planned === undefined ? undefined : buildInput(state, planned, step(stepId));
};

describe('a plan that grows', () => {
  const asked = asking(goal('a'), goal('b'), goal('c', 'a', 'b'));

  test('has a step for each sub-goal; each waits for those it needs, and the next step for all of them', () => {
    expect(asked.told).toEqual([
      'step_succeeded plan',
      'step_added find#2',
      'step_added find#3',
      'step_readied find',
      'step_readied find#2',
    ]);
    const both = asked.run('find', { n: 1 }).run('find#2', { n: 2 });
    expect(both.told).toEqual(['step_succeeded find#2', 'step_readied find#3']);
    expect(inputOf(both, 'find#3')).toEqual({
      mine: { id: 'c', needs: ['a', 'b'] },
      found: [
        { subGoal: goal('a'), output: { n: 1 } },
        { subGoal: goal('b'), output: { n: 2 } },
      ],
      asked: [],
    });
    expect(inputOf(both, 'find')).toMatchObject({ mine: goal('a'), found: [] });
    const all = both.run('find#3', { n: 3 });
    expect(all.told).toContain('step_readied work');
    expect(inputOf(all, 'work')).toMatchObject({ mine: null, found: [{}, {}, { output: { n: 3 } }] });
  });

  test('what the validator misses is added beside it, and waits for no sub-goal', () => {
    const done = asking(goal('a'), goal('b')).run('find', { n: 1 }).run('find#2', { n: 2 }).run('work', { n: 3 });
    const verdict = verdictOf('rework', 'no rate');
    const reasons = verdict.reasons.map((reason) => ({ ...reason, evidence: 'the rate' }));
    const missing = done.run('check', { ...verdict, reasons });
    expect(missing.told).toContain('step_readied find#3');
    expect(inputOf(missing, 'find#3')).toMatchObject({ mine: null });
    const found = missing.run('find#3', { n: 4 });
    expect(inputOf(found, 'work#2')).toMatchObject({
      asked: [{ query: 'the rate', output: { n: 4 } }],
      found: [{ output: { n: 1 } }, { output: { n: 2 } }],
    });
  });

  test('fails as a whole where a sub-goal that is needed can not be found, naming its step', () => {
    const failed = asked.run('find').start('find#2').fail('find#2', errorOf('terminal'));
    expect(failed.state.task).toMatchObject({ state: 'failed', error: { message: 'step "find#2": it broke' } });
  });

  test('a retry tries again what failed of it; what it found stays', () => {
    const failed = asked.run('find', { n: 1 }).start('find#2').fail('find#2', errorOf('terminal'));
    const again = failed.when({ kind: 'retry', letter: null });
    expect(again.told).toEqual(
      expect.arrayContaining(['step_reopened find#2', 'step_reopened find#3', 'step_readied find#2']),
    );
    expect(again.told).not.toContain('step_reopened find');
    const done = again.run('find#2', { n: 2 }).run('find#3', { n: 3 });
    expect(inputOf(done, 'work')).toMatchObject({ found: [{ output: { n: 1 } }, {}, { output: { n: 3 } }] });
  });

  test.each([
    ['none', {}, 'subGoals'],
    ['an empty list', { subGoals: [] }, 'subGoals'],
    ['more than the plan allows', { subGoals: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => goal(id)) }, 'at most 6'],
    ['two of the same id', { subGoals: [goal('a'), goal('a')] }, 'two sub-goals have the id "a"'],
    ['one that needs itself', { subGoals: [goal('a', 'a')] }, "doesn't stand before it"],
    ['a cycle', { subGoals: [goal('a', 'b'), goal('b', 'a')] }, '"a" needs "b"'],
    ['one that needs what is not there', { subGoals: [goal('a', 'z')] }, '"a" needs "z"'],
    ['an id that is no id', { subGoals: [goal('A b')] }, 'subGoals.0.id'],
  ])('refuses %s, by name and with a dead letter', (_name, output, message) => {
    const refused = given(growing()).run('plan', output);
    expect(refused.state.task).toMatchObject({ state: 'failed', error: { code: 'PLAN_INVALID' } });
    expect(refused.state.task.error?.message).toContain(message);
    expect(refused.told).toContain('letter_written plan');
    expect(refused.state.steps).toHaveLength(4);
  });

  test('a second delivery of the planning report adds nothing', () => {
    const again = asked.succeed('plan', { subGoals: [goal('x'), goal('y')] });
    expect(again.changes).toEqual([]);
  });

  test('a fork behind the planning step keeps what grew; one at it asks anew', () => {
    const done = asked.run('find', { n: 1 }).run('find#2', { n: 2 }).run('find#3', { n: 3 }).run('work', { n: 4 });
    const request = { taskId: 't2', submitId: 's2', pin: done.state.task.pin, deadlineMs: null };
    const behind = storyAt(fork(done.state, { ...request, at: 'work' }, T0, OPTIONS).state, T0);
    expect(behind.step('find#3')).toMatchObject({ phase: 'done', copiedFrom: 'find#3' });
    expect(inputOf(behind, 'work')).toMatchObject({ found: [{ output: { n: 1 } }, {}, { output: { n: 3 } }] });
    const within = storyAt(fork(done.state, { ...request, at: 'find' }, T0, OPTIONS).state, T0);
    expect(within.step('find#3')).toMatchObject({ phase: 'blocked', after: ['plan', 'find', 'find#2'] });
    const anew = storyAt(fork(done.state, { ...request, at: 'plan' }, T0, OPTIONS).state, T0);
    expect(anew.state.steps).toHaveLength(4);
  });
});

test.each([
  [{ growth: { ...growth, from: 'nobody' } }, /add "nobody"/],
  [{ growth: { ...growth, step: 'nothing' } }, /"nothing", which the plan doesn't have/],
  [{ growth: { from: 'find', step: 'plan', maxSteps: 3 } }, /add "find"/],
  [{ validation: { step: 'check', rework: ['find', 'work'], maxRounds: 3 } }, /rework names "find"/],
  [{ gate: { after: 'plan', expiresMs: 1_000, onExpiry: 'reject' as const } }, /gate.after names "plan"/],
])('a plan that could not grow does not load: %j', (change, message) => {
  expect(() => growing(change)).toThrow(message);
});

const subGoalLists = fc
  .array(fc.array(fc.nat(5), { maxLength: 3 }), { minLength: 1, maxLength: 6 })
  .map((needs) => needs.map((list, i) => goal(`g${i}`, ...new Set(list.filter((n) => n < i).map((n) => `g${n}`)))));

test('whatever a planning step asks for, in whatever order its steps run, nothing runs before what it needs and the task ends', () => {
  fc.assert(
    fc.property(subGoalLists, fc.array(fc.nat(), { maxLength: 20 }), (subGoals, picks) => {
      let story = given(growing({ validation: null })).run('plan', { subGoals });
      for (let turn = 0; turn < 20 && story.state.task.state !== 'completed'; turn++) {
        const ready = story.state.steps.filter(({ phase }) => phase === 'ready');
        const next = ready[(picks[turn] ?? 0) % Math.max(1, ready.length)];
        if (next === undefined) break;
        const seen = inputOf(story, next.stepId);
        if (next.planKey === 'find') {
          const mine = subGoals[Number(next.stepId.split('#')[1] ?? 1) - 1];
          expect(seen?.['mine']).toEqual(mine);
          const found = (seen?.['found'] ?? []) as { subGoal: SubGoal }[];
          expect(found.map(({ subGoal }) => subGoal.id).sort()).toEqual([...(mine?.needs ?? [])].sort());
        }
        if (next.planKey === 'work') expect(seen?.['found']).toHaveLength(subGoals.length);
        story = next.planKey === 'check' ? story.run('check') : story.run(next.stepId, { n: turn });
      }
      expect(story.state.task.state).toBe('completed');
    }),
  );
});
