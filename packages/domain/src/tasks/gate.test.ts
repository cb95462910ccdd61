import type { Gate } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { hashResult } from './gate.ts';
import { errorOf, given, planOf, planStep, type Story, verdictOf } from './testing.ts';

const after = (key: string, onExpiry: Gate['onExpiry'] = 'reject'): Gate => ({
  after: key,
  expiresMs: 60_000,
  onExpiry,
});
const gated = (onExpiry?: Gate['onExpiry']) =>
  given(planOf([planStep('a'), planStep('b', ['a'])], { gate: after('a', onExpiry) })).run('a', { n: 1 });
const validated = () =>
  given(
    planOf([planStep('a'), planStep('check', ['a'], { role: 'validator' })], {
      validation: { step: 'check', rework: ['a'], maxRounds: 2 },
      result: { from: 'steps.a.output' },
      gate: after('validation'),
    }),
  )
    .run('a', { n: 1 })
    .run('check', verdictOf('pass'));
const sha256 = hashResult({ n: 1 });
const approve = (story: Story, hash = sha256) => story.when({ kind: 'gate', action: 'approve', sha256: hash });
const reject = (story: Story) => story.when({ kind: 'gate', action: 'reject', sha256, reason: 'no' });
const edit = (story: Story) => story.when({ kind: 'gate', action: 'edit', sha256, result: { n: 2 } });

describe('a gate', () => {
  test('opens when its step is done, and holds all that follows', () => {
    const open = gated();
    expect(open.told).toEqual(['step_succeeded a', 'gate_opened']);
    expect(open.state.task).toMatchObject({
      state: 'awaiting_validation',
      gate: { stepId: 'a', sha256, decision: null },
    });
    expect(open.step('b').phase).toBe('blocked');
  });

  test('is bound to the hash of the exact result, and works once', () => {
    expect(approve(gated(), hashResult({ n: 2 })).events).toMatchObject([{ kind: 'refused', code: 'GATE_MISMATCH' }]);
    const approved = approve(gated());
    expect(approved.told).toEqual(['gate_decided', 'task_resumed', 'step_readied b']);
    expect(approve(approved).events).toMatchObject([{ kind: 'refused', code: 'ILLEGAL_TRANSITION' }]);
    expect(reject(approved.run('b')).events).toMatchObject([{ kind: 'refused' }]);
    expect(approved.run('b').state.task.state).toBe('completed');
  });

  test('edited: what follows reads the edit, the step keeps what it put out', () => {
    const edited = edit(gated()).dispatch('b');
    expect(edited.step('a').output).toEqual({ n: 1 });
    expect(edited.state.task.gate).toMatchObject({ decision: 'edited', by: 'person', edited: { n: 2 } });
  });

  test('rejected: fails the task; a retry asks again, and nothing runs again', () => {
    const rejected = reject(gated());
    expect(rejected.told).toEqual(['gate_decided', 'step_failed b', 'task_failed']);
    expect(rejected.state.task.error).toMatchObject({ code: 'GATE_REJECTED', message: expect.stringContaining('no') });
    const again = rejected.when({ kind: 'retry', letter: null });
    expect(again.told).toEqual(['task_reopened', 'step_reopened b', 'task_started', 'gate_opened']);
    expect(approve(again).run('b').state.task.state).toBe('completed');
  });

  test.each([
    ['reject', 'failed'],
    ['approve', 'executing'],
  ] as const)('that nobody decides on expires: %s, also where the answer comes too late', (onExpiry, state) => {
    const open = gated(onExpiry);
    expect(open.later(59_999).when({ kind: 'gate_due' }).events).toEqual([]);
    const late = open.later(60_000);
    for (const story of [late.when({ kind: 'gate_due' }), approve(late)])
      expect(story.state.task).toMatchObject({ state, gate: { by: 'expiry' } });
  });

  test('ends with its task: cancel, deadline, a failed branch', () => {
    const plan = planOf([planStep('a'), planStep('x'), planStep('b', ['a', 'x'])], { gate: after('a') });
    const open = given(plan).run('a', { n: 1 });
    expect(open.start('x').succeed('x').state.task.state).toBe('awaiting_validation');
    for (const end of [
      open.when({ kind: 'cancel', reason: '' }),
      open.later(3_600_000).when({ kind: 'deadline_due' }),
      open.start('x').fail('x', errorOf('terminal')),
    ]) {
      expect(end.state.task).toMatchObject({ state: 'failed', gate: null });
      expect(approve(end).events).toMatchObject([{ kind: 'refused' }]);
    }
  });
});

describe('a gate after validation', () => {
  test('holds what the validator passed; approved or edited it completes, with the trigger that says so', () => {
    const open = validated();
    expect(open.told).toEqual(['step_succeeded check', 'gate_opened']);
    expect(approve(open).events.at(-1)).toMatchObject({
      kind: 'task_completed',
      on: 'gate_approved',
      result: { n: 1 },
    });
    expect(edit(open).events.at(-1)).toMatchObject({ kind: 'task_completed', on: 'gate_edited', result: { n: 2 } });
  });

  test('rejected and retried asks again about the same verdict; no round is added', () => {
    const again = reject(validated()).when({ kind: 'retry', letter: null });
    expect(again.told).toEqual(['task_reopened', 'task_started', 'gate_opened']);
    expect(again.state.task.round).toBe(1);
    expect(approve(again).state.task.state).toBe('completed');
  });
});
