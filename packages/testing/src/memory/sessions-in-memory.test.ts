import { defineWorkflow } from '@cleanslate/domain';
import { defineExecutor } from '@cleanslate/runtime';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { faultPlan, memorySessions, runInMemory } from './index.ts';

const Turn = z.strictObject({ say: z.string() });
const answer = defineExecutor({
  ...{ role: 'chat', name: 'talk/answer', input: Turn, output: z.strictObject({ heard: z.array(z.string()) }) },
  run: async ({ input, session }) => {
    const chat = session('chat-1');
    const heard = (await chat.list()).map(({ text }) => text);
    chat.append({ from: 'user', text: input.say }, { from: 'agent', text: `you said ${input.say}` });
    return { heard };
  },
});
const talk = defineWorkflow({
  ...{ name: 'talk', input: Turn, result: 'steps.answer.output' },
  steps: { answer: { executor: answer, input: { say: 'input.say' } } },
});

test('a conversation of two tasks: what the first said is heard once, though its step ran twice', async () => {
  const sessions = memorySessions();
  const faults = faultPlan({ executor: 'answer', does: 'fail' });
  const first = await runInMemory(talk, { executors: [answer], input: { say: 'one' }, sessions, faults });
  expect(first).toMatchObject({ state: 'completed', result: { heard: [] }, faults: [expect.anything()] });
  const second = await runInMemory(talk, { executors: [answer], input: { say: 'two' }, sessions, taskId: 'task-2' });
  expect(second).toMatchObject({ result: { heard: ['one', 'you said one'] } });
});
