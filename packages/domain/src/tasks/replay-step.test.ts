import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import { attachReplay, checkInputEdit } from './replay-step.ts';
import { diamond, given, OPTIONS } from './testing.ts';
import { toDoorbell } from './to-outgoing.ts';

const failed = given(diamond(), { deadlineMs: 60_000 })
  .run('fork', { n: 1 })
  .start('left')
  .start('right')
  .later(60_000)
  .when({ kind: 'deadline_due' })
  .later(1_000);
const others = [
  { letterId: 'L-right', stepId: 'right' },
  { letterId: 'L-fork', stepId: 'fork' },
];

const replay = (input: Record<string, unknown> | null) =>
  attachReplay(
    failed.state,
    decide(failed.state, { kind: 'retry', letter: { letterId: 'L-left', stepId: 'left' } }, failed.now, OPTIONS),
    { stepId: 'left', input, others },
  );
const stepOf = (of: ReturnType<typeof replay>, stepId: string) =>
  of.decided.state.steps.find((step) => step.stepId === stepId);

describe('a replay', () => {
  test('takes the letters of all steps along that it reopens, and of no others', () => {
    const replayed = replay(null);
    expect(replayed.taken).toEqual(['L-right']);
    expect(stepOf(replayed, 'left')?.replayOf).toBe('L-left');
    expect(stepOf(replayed, 'right')?.replayOf).toBe('L-right');
    expect(stepOf(replayed, 'fork')).toEqual(failed.step('fork'));
  });

  test('with an input gives that to its step alone; the next replay keeps it', () => {
    const replayed = replay({ fork: 'edited' });
    const input = (stepId: string) =>
      toDoorbell(replayed.decided.state, stepId, { time: '2026-01-01T00:00:00.000Z', newId: () => 'id' })[0]?.envelope
        .data;
    expect(input('left')).toMatchObject({ input: { fork: 'edited' } });
    expect(input('right')).toMatchObject({ input: { fork: { n: 1 } } });
  });

  test('is refused an input with other fields than the plan maps, by their names', () => {
    expect(() => checkInputEdit(failed.state, 'left', { fork: 1 })).not.toThrow();
    expect(() => checkInputEdit(failed.state, 'left', { fork: 1, more: 2 })).toThrow(/input\.more is not in the plan/);
    expect(() => checkInputEdit(failed.state, 'left', {})).toThrow(/input\.fork is missing/);
    expect(() => checkInputEdit(failed.state, 'nobody', {})).toThrow(/not in the task's plan/);
  });
});
