import { defineExecutor, defineWorkflow, remember, runWorkerService, toContextParts } from '@cleanslate/runtime';
import { z } from 'zod';

const role = process.env['ROLE'] ?? 'companion';
const Text = z.strictObject({ text: z.string() });

const answer = defineExecutor({
  role,
  name: 'chat/answer',
  input: z.strictObject({ session: z.string(), text: z.string() }),
  output: Text,
  run: async ({ input, session, context, model }) => {
    const chat = session(input.session);
    const question = { id: 'question', text: input.text, priority: 1, source: 'user' };
    const { blocks } = context({ budgetTokens: 2_000, parts: [...toContextParts(await chat.list()), question] });
    const { value } = await model.ask({
      purpose: 'chat',
      instructions: 'Answer the block "question" in one sentence. The other blocks are what was said before.',
      data: blocks,
      output: Text,
      offline: () => ({ text: `I remember ${blocks.length - 1} earlier lines.` }),
    });
    chat.append({ from: 'user', text: input.text }, { from: 'agent', text: value.text });
    return value;
  },
});

const keep = defineExecutor({
  role,
  name: 'chat/keep',
  input: z.strictObject({ session: z.string(), end: z.boolean() }),
  output: z.strictObject({ looked: z.int(), proposed: z.int() }),
  run: async (ctx) => {
    const { session, end } = ctx.input;
    const { looked, candidates } = await remember(ctx, ctx.session(session), { end });
    return { looked, proposed: candidates.length };
  },
});

const chat = defineWorkflow({
  name: 'chat',
  input: z.strictObject({ session: z.string(), text: z.string() }),
  steps: {
    answer: { executor: answer, input: { session: 'input.session', text: 'input.text' } },
    keep: { executor: keep, after: ['answer'], input: { session: 'input.session', end: { value: false } } },
  },
  result: 'steps.answer.output',
});

const chatEnd = defineWorkflow({
  name: 'chat-end',
  input: z.strictObject({ session: z.string() }),
  steps: { keep: { executor: keep, input: { session: 'input.session', end: { value: true } } } },
  result: 'steps.keep.output',
});

await runWorkerService({ role, env: process.env, executors: () => [answer, keep], workflows: [chat, chatEnd] });
