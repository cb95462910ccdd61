import type { Plan } from '@cleanslate/contracts';
import fc from 'fast-check';
import { type Decided, decide } from './decide.ts';
import type { LedgerInput } from './inputs.ts';
import type { Aggregate } from './state.ts';
import { given, OPTIONS, T0, withBeat } from './testing.ts';
import { arbitraryMove, type Move, toInput } from './testing-inputs.ts';
import { arbitraryRichPlan } from './testing-plans.ts';

/** A random plan, and what befalls its task. */
export type RandomStory = { readonly plan: Plan; readonly moves: readonly Move[] };

export function arbitraryStory(maxMoves: number): fc.Arbitrary<RandomStory> {
  return fc.record({
    plan: arbitraryRichPlan,
    moves: fc.array(arbitraryMove, { minLength: 20, maxLength: maxMoves, size: 'max' }),
  });
}

/** Plays a story. `onInput` sees each input with the state it met and what came of it. */
export function play(
  { plan, moves }: RandomStory,
  onInput: (before: Aggregate, input: LedgerInput, now: number, decided: Decided) => void = () => {},
): { readonly state: Aggregate; readonly now: number } {
  let { state } = given(plan);
  let now = T0;
  const earlier: LedgerInput[] = [];
  for (const move of moves) {
    now += move.elapsedMs;
    const input = toInput(state, move, earlier);
    if (input === null) continue;
    if (move.manner === 'good') now = Math.max(now, dueTimeOf(state, input));
    const decided = decide(state, input, now, OPTIONS);
    onInput(state, input, now, decided);
    earlier.push(input);
    state = decided.state;
    if (move.flag && input.kind === 'claim') state = withBeat(state, input.fence.stepId, now);
  }
  return { state, now };
}

/** A well-behaved timer comes when it is due; anything else at any time. */
function dueTimeOf(state: Aggregate, input: LedgerInput): number {
  if (input.kind === 'gate_due') return state.task.gate?.expiresAt ?? 0;
  if (!input.kind.endsWith('_due') || !('stepId' in input)) return 0;
  return state.steps.find((step) => step.stepId === input.stepId)?.dueAt ?? 0;
}
