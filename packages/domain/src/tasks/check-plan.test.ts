import { isAppError, type PlanStep } from '@cleanslate/contracts';
import { describe, expect, test } from 'vitest';
import { checkPlan } from './check-plan.ts';
import { chain, diamond, judged, planStep } from './testing.ts';

type Raw = Record<string, unknown>;

function plan(steps: readonly (PlanStep | Raw)[], change: Raw = {}): Raw {
  const base = { workflow: 'test', inputSchema: {}, documents: [], validation: null, result: { from: 'input' } };
  return { ...base, steps, ...change };
}

function fault(value: unknown): string {
  try {
    checkPlan(value);
  } catch (error) {
    expect(isAppError(error) && error.code).toBe('PLAN_INVALID');
    return error instanceof Error ? error.message : '';
  }
  return 'no fault';
}

const validation = (change: Raw = {}) => ({ step: 'check', rework: ['work'], maxRounds: 2, ...change });
const gate = (after: string) => ({ after, expiresMs: 1_000, onExpiry: 'reject' });
const undo = (from: string) => ({ role: 'payer', executor: 'pay/undo', input: { x: { from } } });
const reading = (from: string, after: readonly string[] = []) => planStep('b', after, { input: { x: { from } } });

describe('a plan is refused', () => {
  test.each<[string, unknown, RegExp]>([
    ['that is none', null, /expected object/],
    [
      'with a field that no reader of messages takes',
      plan([planStep('a', [], { input: { constructor: { from: 'input' } } })]),
      /the plan holds the key "constructor"/,
    ],
    [
      'with a literal that no reader of messages takes',
      plan([planStep('a', [], { input: { x: { value: { ['__proto__']: 1 } } } })]),
      /the plan holds the key "__proto__"/,
    ],
    ['with a NUL character', plan([planStep('a', [], { input: { x: { value: '\0' } } })]), /NUL/],
    ['with a join of nothing', plan([planStep('a', [], { join: 'any' })]), /step "a" has a join but waits for no step/],
    [
      'with a quorum that can never be met',
      plan([planStep('a'), planStep('b', ['a'], { join: { quorum: 2 } })]),
      /step "b" asks for a quorum of 2, but waits for 1 steps/,
    ],
    [
      'with a condition on a step it does not wait for',
      plan([planStep('a'), planStep('b', [], { when: { not: { path: 'steps.a.output', exists: true } } })]),
      /step "b", condition: reads step "a" without waiting for it/,
    ],
    [
      'with a condition that is none',
      plan([{ ...planStep('a'), when: { path: 'input', equal: 1 } }]),
      /steps\.0\.when/,
    ],
    [
      'with a condition on its verdict',
      plan([planStep('work'), planStep('check', ['work'], { when: { path: 'input', exists: true } })], {
        validation: validation(),
      }),
      /step "check" is the validation step: without it the task has no end/,
    ],
    [
      'whose verdict is on a part of the work',
      plan([planStep('work'), planStep('check', ['work'], { join: 'any' })], { validation: validation() }),
      /it judges when all work has ended/,
    ],
    [
      'with a compensation that reads what came later',
      plan([planStep('a', [], { compensate: undo('steps.b.output') }), planStep('b', ['a'])]),
      /step "a", compensation, field "x": reads step "b" without waiting for it/,
    ],
    [
      'with a step that has the name of a compensation',
      plan([planStep('a', [], { compensate: undo('steps.a.output') }), planStep('undo-a')]),
      /step "undo-a" has the name of what undoes "a"/,
    ],
    ['with a gate after an unknown step', plan([planStep('a')], { gate: gate('b') }), /gate\.after names the step "b"/],
    ['with a gate after no validation', plan([planStep('a')], { gate: gate('validation') }), /has no validation/],
    [
      'with a gate that could mean two things',
      plan([planStep('validation')], { gate: gate('validation') }),
      /could mean the step of that key/,
    ],
    [
      'with a gate after the verdict itself',
      plan([planStep('work'), planStep('check', ['work'])], { validation: validation(), gate: gate('check') }),
      /names the validation step: write "validation"/,
    ],
    [
      'with evidence from a step that rework repeats',
      plan([planStep('work'), planStep('check', ['work'])], {
        validation: validation({ evidence: { step: 'work', maxSteps: 9 } }),
      }),
      /validation\.evidence names "work", which validation\.rework repeats/,
    ],
    [
      'with evidence beyond its own bound',
      plan([planStep('find'), planStep('work', ['find']), planStep('check', ['find', 'work'])], {
        validation: validation({ evidence: { step: 'find', maxSteps: 2 } }),
      }),
      /maxSteps is 2, but the plan itself has 3 steps/,
    ],
    ['without steps', plan([]), /steps/],
    ['with an unknown key', plan([planStep('a')], { extra: 1 }), /extra/],
    ['whose key is no step id', plan([planStep('A b')]), /steps\.0\.key/],
    ['whose key looks like a later round', plan([planStep('a#2')]), /steps\.0\.key/],
    ['with a role that would widen a subject', plan([planStep('a', [], { role: 'x.>' })]), /steps\.0\.role/],
    ['with two steps of one key', plan([planStep('a'), planStep('a')]), /same key/],
    ['that waits for nobody it has', plan([planStep('a', ['zz'])]), /step "a" waits for "zz"/],
    ['in which a step waits for itself', plan([planStep('a', ['a'])]), /cycle: a → a/],
    ['with a cycle', plan([planStep('a', ['c']), planStep('b', ['a']), planStep('c', ['b'])]), /cycle: a → c → b → a/],
    [
      'that reads a step without waiting for it',
      plan([planStep('a'), reading('steps.a.output.n')]),
      /step "b", field "x": reads step "a" without waiting for it; add it to "after"/,
    ],
    ['that reads itself', plan([reading('steps.b.output')]), /reads step "b" without waiting/],
    ['that reads something else of a step', plan([planStep('a'), reading('steps.a.error', ['a'])]), /"steps.a.error"/],
    ['that reads a whole step', plan([planStep('a'), reading('steps.a', ['a'])]), /must start with/],
    ['with a path of no known root', plan([reading('secrets.key')]), /"secrets.key" must start with/],
    ['whose result no step gives', plan([planStep('a')], { result: { from: 'steps.zz.output' } }), /result.*"zz"/],
    ['whose validation step is missing', plan([planStep('work')], { validation: validation() }), /"check", which/],
    [
      'whose validation step is not the last',
      plan([planStep('work'), planStep('check', ['work']), planStep('more', ['check'])], { validation: validation() }),
      /step "more" isn't done before the validation step "check"/,
    ],
    [
      'whose validation step misses a branch',
      plan([planStep('work'), planStep('side'), planStep('check', ['work'])], { validation: validation() }),
      /step "side" isn't done before/,
    ],
    [
      'whose rework names the validator',
      plan([planStep('work'), planStep('check', ['work'])], { validation: validation({ rework: ['check'] }) }),
      /rework names "check"/,
    ],
    [
      'whose rework names nobody',
      plan([planStep('work'), planStep('check', ['work'])], { validation: validation({ rework: ['zz'] }) }),
      /rework names "zz"/,
    ],
    [
      'whose rework leaves out what is made from the reworked',
      plan([planStep('work'), planStep('write', ['work']), planStep('check', ['write'])], { validation: validation() }),
      /rework repeats "work" but not "write", which waits for it: add "write"/,
    ],
    [
      'with no round at all',
      plan([planStep('work'), planStep('check', ['work'])], { validation: validation({ maxRounds: 0 }) }),
      /maxRounds/,
    ],
  ])('%s', (_name, value, message) => {
    expect(fault(value)).toMatch(message);
  });
});

describe('a plan is accepted', () => {
  test('as a chain, a diamond, with validation, and reads what is further up', () => {
    for (const each of [chain('a', 'b', 'c'), diamond(), judged()]) expect(checkPlan(each)).toEqual(each);
    const far = plan([planStep('a'), planStep('m', ['a']), reading('steps.a.output', ['m'])]);
    expect(fault(far)).toBe('no fault');
    expect(
      fault(plan([planStep('a'), reading('feedback'), planStep('c', [], { input: { p: { from: 'pin' } } })])),
    ).toBe('no fault');
  });

  test('with rework of only the last part', () => {
    const part = [planStep('fetch'), planStep('write', ['fetch']), planStep('check', ['write'])];
    expect(fault(plan(part, { validation: validation({ rework: ['write'] }) }))).toBe('no fault');
  });

  test('in its largest size, at once', () => {
    const keys = Array.from({ length: 200 }, (_, i) => `s${i}`);
    expect(fault(plan(keys.map((key, i) => planStep(key, keys.slice(0, i)))))).toBe('no fault');
  });
});
