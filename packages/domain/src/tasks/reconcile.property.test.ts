import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Step } from './state.ts';
import { chain, diamond, given, judged, OPTIONS, type Story, storyAt, verdictOf } from './testing.ts';
import { arbitraryStory, play } from './testing-story.ts';

const reconcile = (story: Story) => story.when({ kind: 'reconcile' });

function broken(story: Story, stepId: string, change: Partial<Step>): Story {
  const steps = story.state.steps.map((step) => (step.stepId === stepId ? { ...step, ...change } : step));
  return storyAt({ ...story.state, steps }, story.now);
}

describe('reconciling', () => {
  test('changes nothing in any state that the machine itself can reach', () => {
    let looked = 0;
    fc.assert(
      fc.property(arbitraryStory(40), (story) => {
        play(story, (_before, _input, now, { state }) => {
          looked++;
          expect(decide(state, { kind: 'reconcile' }, now, OPTIONS).changes).toEqual([]);
        });
      }),
      { numRuns: 200 },
    );
    expect(looked).toBeGreaterThan(1_000);
  });

  test('a step that has all it waits for becomes ready', () => {
    const lost = broken(given(chain('a', 'b')).run('a'), 'b', { phase: 'blocked', dueAt: null });
    expect(reconcile(lost).told).toEqual(['step_readied b']);
    const joined = broken(given(diamond()).run('fork').run('left').run('right'), 'join', {
      phase: 'blocked',
      dueAt: null,
    });
    expect(reconcile(joined).told).toEqual(['step_readied join']);
    expect(reconcile(reconcile(joined)).told).toEqual([]);
  });

  test('a task whose work is all done completes, also behind a verdict', () => {
    const running = given(chain('a')).start('a');
    const done = broken(running, 'a', { state: 'completed', phase: 'done', output: { n: 1 }, dueAt: null });
    expect(reconcile(done).state.task).toMatchObject({ state: 'completed', result: { n: 1 } });
    const checking = given(judged()).run('work', { n: 2 }).start('check');
    const passed = broken(checking, 'check', {
      state: 'completed',
      phase: 'done',
      output: verdictOf('pass'),
      dueAt: null,
    });
    expect(reconcile(passed).state.task).toMatchObject({ state: 'completed', result: { n: 2 } });
  });

  test('while something else moves the task it is left alone', () => {
    const half = broken(given(diamond()).run('fork').run('left'), 'join', { phase: 'blocked', dueAt: null });
    expect(reconcile(half).told).toEqual([]);
  });
});
