import type { Plan } from '@cleanslate/contracts';
import { type Decided, decide } from './decide.ts';
import type { LedgerEvent } from './events.ts';
import { evolve } from './evolve.ts';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, findStep } from './state.ts';
import { chain, judged, planOf, planStep, T0 } from './testing.ts';
import type { Decide } from './testing-model.ts';

/** Machines with one fault each. A check that lets one of them pass checks nothing. */
type Mutant = { readonly plan: Plan; readonly machine: Decide };

type Machine = (state: Aggregate, input: LedgerInput, now: number, real: () => Decided) => Decided;

function mutant(plan: Plan, machine: Machine): Mutant {
  return {
    plan,
    machine: (state, input, now, options) => machine(state, input, now, () => decide(state, input, now, options)),
  };
}

/** What these events make of a state, as if they had been decided. */
function decided(state: Aggregate, events: readonly LedgerEvent[], now: number): Decided {
  const changes = [];
  let after = state;
  for (const event of events) {
    const before = after;
    after = evolve(before, event, now);
    changes.push({ event, before, after });
  }
  return { changes, state: after };
}

function without(
  machine: () => Decided,
  state: Aggregate,
  now: number,
  drop: (event: LedgerEvent) => boolean,
): Decided {
  const events = machine().changes.map((change) => change.event);
  return decided(
    state,
    events.filter((event) => !drop(event)),
    now,
  );
}

/** Decides by another plan than the task's. */
function underPlan(plan: Plan, state: Aggregate, input: LedgerInput, now: number): Decided {
  const made = decide({ ...state, plan }, input, now);
  if (made.changes.every((change) => change.event.kind === 'refused')) return { changes: [], state };
  return { ...made, state: { ...made.state, plan: state.plan } };
}

const gated = planOf([planStep('a'), planStep('b', ['a'])], {
  gate: { after: 'a', expiresMs: 600_000, onExpiry: 'reject' },
});
const growing = planOf([planStep('plan'), planStep('find', ['plan']), planStep('work', ['find'])], {
  growth: { from: 'plan', step: 'find', maxSteps: 2 },
});
const ERROR = { code: 'CANCELLED', disposition: 'terminal', message: '' } as const;

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'the last claim of an attempt wins, not the first': mutant(chain('a'), (state, input, now, real) => {
    const step = input.kind === 'claim' ? findStep(state, input.fence.stepId) : undefined;
    if (input.kind !== 'claim' || step?.phase !== 'executing' || step.attempt !== input.fence.attempt) return real();
    const { claimId } = input.fence;
    const event = {
      kind: 'step_claimed',
      stepId: step.stepId,
      claimId,
      worker: 'w',
      dueAt: now,
      timeoutAt: now,
    } as const;
    return decided(state, [event], now);
  }),
  'a result is taken from whoever brings it': mutant(chain('a'), (state, input, now, real) => {
    const step = input.kind === 'report' ? findStep(state, input.fence.stepId) : undefined;
    if (input.kind !== 'report' || step?.phase !== 'executing') return real();
    const fence = { ...input.fence, epoch: state.epoch, attempt: step.attempt, claimId: step.claimId ?? '' };
    return decide(state, { ...input, fence }, now);
  }),
  'a late result brings a failed task back': mutant(chain('a'), (state, input, now, real) => {
    const late = input.kind === 'report' && state.task.state === 'failed';
    return late ? decided(state, [{ kind: 'task_completed', on: 'late', result: null }], now) : real();
  }),
  'one attempt more than the plan allows': mutant(chain('a'), (state, input, now) => {
    const steps = state.plan.steps.map((step) => ({ ...step, retry: { ...step.retry, maxAttempts: 4 } }));
    return underPlan({ ...state.plan, steps }, state, input, now);
  }),
  'what follows from a result is forgotten': mutant(chain('a', 'b'), (state, _, now, real) =>
    without(real, state, now, (event) => event.kind === 'step_readied' && event.stepId === 'b'),
  ),
  'a retry leaves the step where it was': mutant(chain('a'), (state, _, now, real) =>
    without(real, state, now, (event) => event.kind === 'step_reopened'),
  ),
  'a cancelled task leaves its work running': mutant(chain('a'), (state, input, now, real) =>
    input.kind === 'cancel' && state.task.state === 'executing'
      ? decided(state, [{ kind: 'task_failed', on: 'cancelled', error: ERROR }], now)
      : real(),
  ),
  'work is given up on in silence': mutant(chain('a'), (state, _, now, real) =>
    without(real, state, now, (event) => event.kind === 'letter_written'),
  ),
  'a back-off that is never over': mutant(chain('a'), (state, input, _, real) =>
    input.kind === 'backoff_due' ? { changes: [], state } : real(),
  ),
  'a join runs with its first branch': mutant(
    planOf([planStep('a'), planStep('b'), planStep('c', ['a', 'b'])]),
    (_, input, now, real) => {
      const made = real();
      const a = findStep(made.state, 'a');
      if (input.kind !== 'report' || a?.phase !== 'done' || findStep(made.state, 'c')?.phase !== 'blocked') return made;
      const early = decided(made.state, [{ kind: 'step_readied', stepId: 'c', dueAt: now + 1_000 }], now);
      return { changes: [...made.changes, ...early.changes], state: early.state };
    },
  ),
  'what a planning step asks for is forgotten': mutant(growing, (state, _, now, real) =>
    without(real, state, now, (event) => event.kind === 'step_added'),
  ),
  'what follows runs before all that grew': mutant(growing, (_, input, now, real) => {
    const made = real();
    const find = findStep(made.state, 'find');
    if (input.kind !== 'report' || find?.phase !== 'done' || findStep(made.state, 'work')?.phase !== 'blocked')
      return made;
    const early = decided(made.state, [{ kind: 'step_readied', stepId: 'work', dueAt: now + 1_000 }], now);
    return { changes: [...made.changes, ...early.changes], state: early.state };
  }),
  'a validator is asked for one round too many': mutant(judged(2), (state, input, now) => {
    const validation = state.plan.validation && { ...state.plan.validation, maxRounds: 3 };
    return underPlan({ ...state.plan, validation }, state, input, now);
  }),
  'a person approves what another result was': mutant(gated, (state, input, now, real) =>
    input.kind === 'gate' ? decide(state, { ...input, sha256: state.task.gate?.sha256 ?? '' }, now) : real(),
  ),
  'a lease ends before it is over': mutant(chain('a'), (state, input, now) =>
    decide(state, input, input.kind === 'lease_due' ? now + 10 * (now - T0 + 1_000_000) : now),
  ),
};
