import { expect, test } from 'vitest';
import { levelsOf } from './plan.ts';

const step = (stepId: string, after: string[], supersedes: string | null = null) => ({ stepId, after, supersedes });
const levels = (steps: ReturnType<typeof step>[]) =>
  Object.fromEntries(steps.map((each) => [each.stepId, levelsOf(steps)(each)]));

test('each step stands right of all that it waits for, in whatever order they are listed', () => {
  const steps = [step('join', ['left', 'right']), step('left', ['start']), step('right', ['left']), step('start', [])];
  expect(levels(steps)).toEqual({ start: 0, left: 1, right: 2, join: 3 });
});

test('a later round stands right of what it takes the place of; a circle ends', () => {
  expect(levels([step('a', []), step('b', ['a']), step('a#2', [], 'a'), step('b#2', ['a#2'], 'b')])).toEqual({
    a: 0,
    b: 1,
    'a#2': 1,
    'b#2': 2,
  });
  expect(levels([step('a', ['b']), step('b', ['a'])])).toBeDefined();
});
