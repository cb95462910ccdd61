import { Verdict } from '@cleanslate/contracts';
import { defineWorkflow, type StepDefinition } from '@cleanslate/domain';
import { defineExecutor, type Executor } from '@cleanslate/runtime';
import { z } from 'zod';
import type { MemoryRunOptions } from './run-in-memory.ts';
import type { VirtualClock } from './virtual-clock.ts';

const Made = z.strictObject({ text: z.string(), round: z.int() });
const input = z.strictObject({ topic: z.string() });
const retry = { maxAttempts: 4, baseMs: 1_000, maxMs: 30_000 };

/** Waits in virtual time, as a call to a model would in real time, and does nothing on a claim that is gone. */
function writerOn(clock: VirtualClock, effects: string[] = []): Executor {
  return defineExecutor({
    role: 'writer',
    name: 'sample/write',
    input: z.strictObject({ topic: z.string() }),
    output: Made,
    run: async (ctx) => {
      await clock.sleep(1_500, ctx.signal);
      await ctx.fence();
      effects.push(ctx.idempotencyKey);
      return { text: `about ${ctx.input.topic}, draft ${ctx.round}`, round: ctx.round };
    },
  });
}

/** Sends the first draft back. */
const critic = defineExecutor({
  role: 'validator',
  name: 'sample/judge',
  input: z.strictObject({ made: Made }),
  output: Verdict,
  run: ({ input: { made } }): Verdict => {
    if (made.round > 1) return { decision: 'pass', score: 1, checks: [], reasons: [] };
    const reason = { code: 'FIRST_DRAFT', path: 'text', message: 'a first draft', remedy: 'write it again' };
    return { decision: 'rework', score: 0, checks: [], reasons: [reason] };
  },
});

const eraser = defineExecutor({
  role: 'writer',
  name: 'sample/erase',
  input: z.strictObject({}),
  output: z.strictObject({}),
  run: () => ({}),
});

export function executorsOn(clock: VirtualClock, effects?: string[]): readonly Executor[] {
  return [writerOn(clock, effects), critic, eraser];
}

function write(after: readonly string[] = [], more: Partial<StepDefinition> = {}): StepDefinition {
  return { role: 'writer', executor: 'sample/write', after, input: { topic: 'input.topic' }, retry, ...more };
}
const judge: StepDefinition = {
  role: 'validator',
  executor: 'sample/judge',
  after: ['draft'],
  input: { made: 'steps.draft.output' },
  retry,
};
const undo = { compensate: { role: 'writer', executor: 'sample/erase', input: {} } };

export const chain = defineWorkflow({
  name: 'sample-chain',
  input,
  result: 'steps.third.output',
  steps: { first: write(), second: write(['first']), third: write(['second']) },
});

export const judged = defineWorkflow({
  name: 'sample-judged',
  input,
  result: 'steps.draft.output',
  steps: { draft: write(), judge },
  validation: { step: 'judge', rework: ['draft'], maxRounds: 3 },
});

/** Every sample, with what its run needs beside the executors. */
export const SAMPLES: readonly (readonly [ReturnType<typeof defineWorkflow>, Partial<MemoryRunOptions>?])[] = [
  [chain],
  [judged],
  [
    defineWorkflow({
      name: 'sample-race',
      input,
      result: 'steps.best.output',
      steps: { left: write(), right: write(), best: write(['left', 'right'], { join: 'any' }) },
    }),
  ],
  [
    defineWorkflow({
      name: 'sample-join',
      input,
      result: 'steps.whole.output',
      steps: { left: write(), right: write(), whole: write(['left', 'right']) },
    }),
  ],
  [
    defineWorkflow({
      name: 'sample-gated',
      input,
      result: 'steps.send.output',
      steps: { draft: write(), send: write(['draft']) },
      gate: { after: 'draft', expiresMs: 600_000, onExpiry: 'reject' },
    }),
  ],
  [
    defineWorkflow({
      name: 'sample-undone',
      input,
      result: 'steps.third.output',
      steps: { first: write([], undo), second: write(['first'], undo), third: write(['second']) },
    }),
    { cancelAfterMs: 4_000 },
  ],
];
