import type { JsonObject, Plan } from '@cleanslate/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LedgerInput } from './inputs.ts';
import { type Aggregate, isActive, isGateOpen, type Step } from './state.ts';
import { given, type Story, storyAt, USAGE, verdictOf } from './testing.ts';
import { arbitraryPlan, arbitraryRichPlan } from './testing-plans.ts';
import { arbitraryStory, play } from './testing-story.ts';
import { isTerminal } from './transitions.ts';

/**
 * Draws the next number below `n`: what a fair platform leaves to chance (the order of steps, a crash now and then).
 */
type Draw = (n: number) => number;

function drawFrom(numbers: readonly number[]): Draw {
  let next = 0;
  return (n) => (numbers[next++ % numbers.length] ?? 0) % n;
}

/** What a platform that works does next for a step: let it out, claim it, report it, wait until it is due. */
function advance(story: Story, step: Step, draw: Draw, mishap: boolean): Story {
  const { stepId, attempt } = step;
  switch (step.phase) {
    case 'ready':
      return story.dispatch(stepId);
    case 'dispatched':
      return story.claim(stepId, { claimId: `claim-${attempt}` });
    case 'executing':
      if (mishap) return crash(story, step, draw);
      return story.report(stepId, {
        outcome: 'succeeded',
        output: outputOf(story.state, step),
        usage: USAGE,
        candidates: [],
      });
    default:
      return waitFor(story, step.dueAt).when({ kind: 'backoff_due', stepId });
  }
}

function crash(story: Story, step: Step, draw: Draw): Story {
  const { stepId, attempt, claimId } = step;
  const due: LedgerInput[] = [
    { kind: 'lease_due', stepId, attempt, claimId: claimId ?? '' },
    { kind: 'attempt_timeout_due', stepId, attempt },
  ];
  const input = due[draw(2)];
  if (input === undefined) return story;
  return waitFor(story, input.kind === 'lease_due' ? step.dueAt : step.timeoutAt).when(input);
}

function outputOf({ plan }: Aggregate, step: Step): JsonObject {
  if (plan.validation?.step !== step.planKey) return { by: step.stepId };
  return verdictOf(step.round >= plan.validation.maxRounds ? 'pass' : 'rework', `complaint of round ${step.round}`);
}

/** The sweeper's look at the queue's time-to-live. */
function expireQueues(story: Story): Story {
  return story.state.steps.reduce((seen, { stepId }) => seen.when({ kind: 'queue_due', stepId }), story);
}

function waitFor(story: Story, at: number | null): Story {
  return at !== null && at > story.now ? story.later(at - story.now) : story;
}

/** Somebody decides in the end, or the clock does. */
function decideGate(story: Story, draw: Draw): Story {
  const { gate } = story.state.task;
  const sha256 = gate?.sha256 ?? '';
  const drawn = draw(4);
  if (drawn === 0) return waitFor(story, gate?.expiresAt ?? null).when({ kind: 'gate_due' });
  if (drawn === 1) return story.when({ kind: 'gate', action: 'edit', sha256, result: { n: 1 } });
  if (drawn === 2) return story.when({ kind: 'gate', action: 'reject', sha256, reason: 'no' });
  return story.when({ kind: 'gate', action: 'approve', sha256 });
}

/** Runs a fair platform until the task is terminal; throws where that takes longer than it may. */
function runToEnd(start: Story, draw: Draw, isMishap: () => boolean, limit: number): Story {
  let story = start;
  for (let taken = 0; !isTerminal(story.state.task.state); taken++) {
    if (taken > limit) throw new Error(`not terminal after ${limit} steps: ${JSON.stringify(story.state.steps)}`);
    story = story.when({ kind: 'deadline_due' });
    if (isTerminal(story.state.task.state)) break;
    story = expireQueues(story);
    const open = story.state.steps.filter((step) => isActive(step) && step.phase !== 'blocked');
    if (isGateOpen(story.state.task) && (open.length === 0 || draw(4) === 0)) {
      story = decideGate(story, draw);
      continue;
    }
    const step = open[draw(open.length)];
    // None is left where the last one's time in the queue was just over.
    if (step === undefined) continue;
    story = advance(story, step, draw, isMishap());
  }
  return story;
}

/** A short time-to-live in the queue would end work whose worker fell silent. */
function withPatience(plan: Plan): Plan {
  return { ...plan, steps: plan.steps.map((step) => ({ ...step, queueTtlMs: 30 * 86_400_000 })) };
}

const numbers = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 });
const RUNS = { numRuns: 500, endOnFailure: true };

describe('a platform that works', () => {
  test('completes every task, in as many moves as its steps need', () => {
    fc.assert(
      fc.property(arbitraryPlan, numbers, (plan, drawn) => {
        const rounds = plan.validation?.maxRounds ?? 1;
        const end = runToEnd(given(plan), drawFrom(drawn), () => false, 3 * plan.steps.length * rounds);
        expect(end.state.task).toMatchObject({ state: 'completed', round: rounds });
        for (const step of end.state.steps) expect(step).toMatchObject({ attempt: 1, spent: 0 });
      }),
      RUNS,
    );
  });

  test('whose workers crash now and then still brings every task to an end, and completes it while attempts last', () => {
    fc.assert(
      fc.property(arbitraryPlan, numbers, (drawnPlan, drawn) => {
        const plan = withPatience(drawnPlan);
        const draw = drawFrom(drawn);
        // Each attempt, also a silent one, takes at most four moves: out, claimed, ended, due.
        const attempts = (plan.steps[0]?.retry.maxAttempts ?? 1) + 3;
        const limit = 4 * attempts * plan.steps.length * (plan.validation?.maxRounds ?? 1);
        const end = runToEnd(given(plan, { deadlineMs: 30 * 86_400_000 }), draw, () => draw(3) === 0, limit);
        const isSpent = end.state.steps.some((step) => step.spent === plan.steps[0]?.retry.maxAttempts);
        expect(end.state.task.state).toBe(isSpent ? 'failed' : 'completed');
      }),
      RUNS,
    );
  });

  test('brings every task to an end whatever its plan says, and fails none but by a rejection, a spent budget or a skipped goal', () => {
    const ends = new Set<string>();
    fc.assert(
      fc.property(arbitraryRichPlan, numbers, (drawnPlan, drawn) => {
        const plan = withPatience(drawnPlan);
        const rounds = plan.validation?.maxRounds ?? 1;
        const limit = 4 * (plan.steps.length * (rounds + 1) + 10);
        const end = runToEnd(given(plan, { deadlineMs: 30 * 86_400_000 }), drawFrom(drawn), () => false, limit);
        const { state, error } = end.state.task;
        ends.add(error?.code ?? state);
        if (state === 'failed')
          expect(['GATE_REJECTED', 'GATE_EXPIRED', 'VALIDATION_EXHAUSTED']).toContain(error?.code);
      }),
      RUNS,
    );
    expect([...ends].sort()).toEqual(['GATE_EXPIRED', 'GATE_REJECTED', 'VALIDATION_EXHAUSTED', 'completed']);
  });

  test('brings a task to an end from wherever hostile inputs left it', () => {
    fc.assert(
      fc.property(arbitraryStory(40), numbers, (story, drawn) => {
        const { state, now } = play(story);
        const left = storyAt(state, now);
        const limit = 4 * 8 * (story.plan.steps.length + 1) * 6;
        const end = runToEnd(left, drawFrom(drawn), () => false, limit);
        expect(isTerminal(end.state.task.state)).toBe(true);
      }),
      RUNS,
    );
  });
});
