import type { Plan } from '@cleanslate/contracts';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { planOf, planStep } from './testing.ts';
import { explore, Violation } from './testing-explorer.ts';
import { type Budget, modelOf } from './testing-model.ts';
import { MUTANTS } from './testing-mutants.ts';

/**
 * `MODEL_CHECK=long`: more retries and free attempts, and the keys of the states themselves are
 * checked. Takes some minutes.
 */
const LONG = inject('modelCheck') === 'long';
/**
 * What may happen once happens once in the short form, and twice in the long one; but for the plans with most states.
 */
const ONCE: Budget = LONG ? { free: 2, retries: 2 } : { free: 1, retries: 1 };
const LARGE: Budget = LONG ? { free: 1, retries: 1 } : { free: 0, retries: 1 };
const OPTIONS = { limit: 2_000_000 };
const TIMEOUT_MS = LONG ? 900_000 : 300_000;

const twice = { retry: { maxAttempts: 2, baseMs: 1_000, maxMs: 8_000 } };
const once = { retry: { ...twice.retry, maxAttempts: 1 } };
const undo = { compensate: { role: 'analyzer', executor: 'test/undo', input: {} } };
const step = (key: string, after: readonly string[] = [], more: Parameters<typeof planStep>[2] = {}) =>
  planStep(key, after, { ...twice, ...more });
const gate = (after: string, onExpiry: 'approve' | 'reject') => ({ gate: { after, expiresMs: 600_000, onExpiry } });
const judged = {
  validation: { step: 'check', rework: ['work'], maxRounds: 2 },
  result: { from: 'steps.work.output' },
};

type Searched = { readonly name: string; readonly plan: Plan; readonly budget: Budget };

/** Every shape that a plan of at most three steps can have, and one that grows by a fourth. */
const PLANS: readonly Searched[] = [
  searched('one step', planOf([step('a')])),
  searched('a chain', planOf([step('a'), step('b', ['a']), step('c', ['b'])])),
  searched('a fork', planOf([step('a'), step('b', ['a'], once), step('c', ['a'], once)])),
  searched('three at the same time', planOf([step('a'), step('b', [], once), step('c', [], once)]), LARGE),
  searched('a join of all', planOf([step('a'), step('b', [], once), step('c', ['a', 'b'])])),
  searched('a join of any', planOf([step('a'), step('b'), step('c', ['a', 'b'], { join: 'any' })]), LARGE),
  searched('a join of two', planOf([step('a'), step('b'), step('c', ['a', 'b'], { join: { quorum: 2 } })]), LARGE),
  searched(
    'a join of what came',
    planOf([step('a'), step('b'), step('c', ['a', 'b'], { join: 'best_effort' })]),
    LARGE,
  ),
  searched(
    'a step that may be skipped',
    planOf([
      step('a'),
      step('b', ['a'], { when: { path: 'steps.a.output.n', equals: 2 } }),
      step('c', ['a', 'b'], { join: 'best_effort' }),
    ]),
  ),
  searched(
    'a validation loop of two rounds',
    planOf([step('work', [], once), step('check', ['work'], { role: 'validator' })], judged),
    LARGE,
  ),
  searched('a gate after a step', planOf([step('a'), step('b', ['a'])], gate('a', 'approve'))),
  searched(
    'a gate after validation',
    planOf([step('work', [], once), step('check', ['work'], { role: 'validator', ...once })], {
      ...judged,
      ...gate('validation', 'reject'),
    }),
    LARGE,
  ),
  searched(
    'a plan that grows by a step',
    planOf([step('plan'), step('find', ['plan']), step('work', ['find'], once)], {
      growth: { from: 'plan', step: 'find', maxSteps: 2 },
    }),
    LARGE,
  ),
  searched(
    'steps that are undone',
    planOf([step('a', [], { ...undo, ...once }), step('b', [], { ...undo, ...once }), step('c', ['a', 'b'], once)]),
    LARGE,
  ),
];

function searched(name: string, plan: Plan, budget = ONCE): Searched {
  return { name, plan, budget };
}

describe('every way that the machine can go keeps the rules and leads to an end', () => {
  const counted = { states: 0, transitions: 0 };
  const startedAt = performance.now();

  test.each(PLANS)('$name', { timeout: TIMEOUT_MS }, ({ name, plan, budget }) => {
    const { states, transitions, ends } = explore(modelOf(plan, budget), OPTIONS);
    counted.states += states;
    counted.transitions += transitions;
    console.log(`${name}: ${states} states, ${ends} of them ends, ${transitions} transitions`);
    // Less would mean that the model no longer goes where it should.
    expect(ends).toBeGreaterThan(10);
  });

  const compared = LONG ? PLANS : PLANS.slice(0, 1);
  test.each(compared)('states of $name that count as one behave as one', { timeout: TIMEOUT_MS }, ({ plan }) => {
    explore(modelOf(plan, { free: 1, retries: 1 }), { ...OPTIONS, checkKeys: true });
  });

  afterAll(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(`model check: ${counted.states} states, ${counted.transitions} transitions, ${seconds} s`);
  });
});

describe('a broken machine is found out', () => {
  test.each(Object.entries(MUTANTS))('%s', (_, { plan, machine }) => {
    const search = () => explore(modelOf(plan, { free: 1, retries: 1 }, machine), OPTIONS);
    expect(search).toThrow(Violation);
  });
});
