import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Decided, decide } from './decide.ts';
import type { LedgerEvent } from './events.ts';
import type { LedgerInput } from './inputs.ts';
import type { Aggregate } from './state.ts';
import { OPTIONS } from './testing.ts';
import { assertDecision, assertState } from './testing-invariants.ts';
import { arbitraryStory, play } from './testing-story.ts';

// fast-check prints seed and path of a failure; `fc.assert(…, { seed, path })` runs it again.
const RUNS = { numRuns: 500, endOnFailure: true };
const STORY = arbitraryStory(70);

const frozen = new WeakSet<object>();
/** Makes any write to a state or an input throw. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || frozen.has(value)) return value;
  frozen.add(value);
  for (const child of Object.values(value)) freeze(child);
  return Object.freeze(value);
}

/** Events and failures that the stories must have come by: a property that met none of them showed nothing. */
const MUST_SEE: readonly (LedgerEvent['kind'] | `${'failed' | 'step' | 'added'}: ${string}`)[] = [
  'step_released',
  'step_rung',
  'step_backed_off',
  'task_validating',
  'task_reworked',
  'task_reopened',
  'letter_written',
  'letter_closed',
  'refused',
  'task_completed',
  'failed: CANCELLED',
  'failed: DEADLINE_EXCEEDED',
  'failed: VALIDATION_EXHAUSTED',
  'failed: ATTEMPTS_EXHAUSTED',
  'failed: VALIDATION_REJECTED',
  'failed: GATE_REJECTED',
  'failed: GATE_EXPIRED',
  'gate_opened',
  'gate_decided',
  'task_resumed',
  'task_compensating',
  'usage_counted',
  'step: NOT_NEEDED',
  'step: DEPENDENCY_FAILED',
  'added: evidence',
  'added: compensation',
];

type Once = Extract<LedgerEvent, { kind: 'step_claimed' | 'step_succeeded' | 'letter_written' }>;
function isOnce(event: LedgerEvent): event is Once {
  return event.kind === 'step_claimed' || event.kind === 'step_succeeded' || event.kind === 'letter_written';
}

/** A person decides about the very result that waited, and no earlier decision is touched. */
function assertGate({ task }: Aggregate, input: LedgerInput, { changes }: Decided): void {
  for (const { event } of changes) {
    if (event.kind !== 'gate_decided') continue;
    if (task.gate?.decision !== null) throw new Error('a gate was decided that was not open');
    const right = input.kind === 'gate' ? input.sha256 === task.gate.sha256 : input.kind === 'gate_due';
    if (!right) throw new Error(`${JSON.stringify(input)} decided the gate of ${task.gate.sha256}`);
  }
}

describe('the task machine, under well-behaved, duplicated, reordered, stale and made-up inputs', () => {
  test('keeps its invariants', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(STORY, (story) => {
        play(story, (before, input, now, decided) => {
          assertDecision(before, decided, now);
          assertGate(before, input, decided);
          assertState(decided.state);
          for (const { event } of decided.changes) {
            seen.add(event.kind);
            if (event.kind === 'task_failed') seen.add(`failed: ${event.error.code}`);
            if (event.kind === 'step_failed') seen.add(`step: ${event.error.code}`);
            if (event.kind === 'step_added') seen.add(`added: ${event.step.purpose}`);
          }
        });
      }),
      RUNS,
    );
    expect(MUST_SEE.filter((what) => !seen.has(what))).toEqual([]);
  });

  test('grants each attempt to one claim, lets each step succeed once, and gives up on each attempt once', () => {
    fc.assert(
      fc.property(STORY, (story) => {
        const once = new Set<string>();
        play(story, (_before, _input, _now, { changes }) => {
          for (const { event, after } of changes) {
            // A retried task may be given up on before its next attempt: under the number of the last one.
            if (event.kind === 'task_reopened')
              for (const what of once) if (what.startsWith('letter')) once.delete(what);
            if (!isOnce(event)) continue;
            const attempt = after.steps.find((step) => step.stepId === event.stepId)?.attempt;
            const what = `${event.kind} ${event.stepId}/${event.kind === 'step_succeeded' ? '' : attempt}`;
            if (once.has(what)) throw new Error(`twice: ${what}`);
            once.add(what);
          }
        });
      }),
      RUNS,
    );
  });

  test('decides the same each time, changes nothing it was given, and does nothing on a repetition', () => {
    fc.assert(
      fc.property(STORY, (story) => {
        play(story, (before, input, now, decided) => {
          const again = decide(freeze(before), freeze(input), now, OPTIONS);
          if (!isDeepStrictEqual(again, decided)) expect(again).toEqual(decided);
          const repeated = decide(decided.state, input, now, OPTIONS);
          expect(repeated.changes.filter((change) => change.event.kind !== 'refused')).toEqual([]);
          expect(repeated.state).toBe(decided.state);
        });
      }),
      RUNS,
    );
  });
});
