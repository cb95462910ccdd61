import { defineExecutor, defineWorkflow, runWorkerService } from '@cleanslate/runtime';
import { z } from 'zod';

const Counted = z.strictObject({ words: z.int(), longest: z.string() });
const longer = (a: string, b: string) => (b.length > a.length ? b : a);

const count = defineExecutor({
  role: 'scribe',
  name: 'digest/count',
  input: z.strictObject({ text: z.string() }),
  output: Counted,
  run: ({ input }) => {
    const words = input.text.match(/\w+/g) ?? [];
    return { words: words.length, longest: words.reduce(longer) };
  },
});

const describe = defineExecutor({
  role: 'scribe',
  name: 'digest/describe',
  input: Counted,
  output: z.strictObject({ summary: z.string() }),
  run: ({ input }) => ({ summary: `${input.words} words, the longest is "${input.longest}"` }),
});

const digest = defineWorkflow({
  name: 'digest',
  input: z.strictObject({ text: z.string() }),
  steps: {
    count: { executor: count, input: { text: 'input.text' } },
    describe: {
      executor: describe,
      after: ['count'],
      input: { words: 'steps.count.output.words', longest: 'steps.count.output.longest' },
    },
  },
  result: 'steps.describe.output',
});

await runWorkerService({ role: 'scribe', env: process.env, executors: () => [count, describe], workflows: [digest] });
