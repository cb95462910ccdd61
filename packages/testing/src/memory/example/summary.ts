import { defineExecutor, defineWorkflow } from '@cleanslate/runtime';
import { z } from 'zod';

export const summarize = defineExecutor({
  role: 'writer',
  name: 'summary/write',
  input: z.strictObject({ text: z.string() }),
  output: z.strictObject({ summary: z.string() }),
  run: ({ input }) => ({ summary: `${input.text.split('. ')[0]}.` }),
});

export const summaryWorkflow = defineWorkflow({
  name: 'summary',
  input: z.strictObject({ text: z.string() }),
  steps: { write: { role: 'writer', executor: 'summary/write', input: { text: 'input.text' } } },
  result: 'steps.write.output',
});
