import { Verdict } from '@cleanslate/contracts';
import { defineWorkflow } from '@cleanslate/domain';
import { defineExecutor } from '@cleanslate/runtime';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { faultPlan, memorySessions, runInMemory } from './index.ts';

const Turn = z.strictObject({ say: z.string() });
const answer = defineExecutor({
  role: 'chat',
  name: 'talk/answer',
  input: Turn,
  output: z.strictObject({ heard: z.array(z.string()) }),
  run: async ({ input, session }) => {
    const chat = session('chat-1');
    const heard = (await chat.list()).map(({ text }) => text);
    chat.append({ from: 'user', text: input.say }, { from: 'agent', text: `you said ${input.say}` });
    return { heard };
  },
});
const talk = defineWorkflow({
  name: 'talk',
  input: Turn,
  result: 'steps.answer.output',
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

const Asked = z.strictObject({ subGoals: z.array(z.strictObject({ id: z.string(), needs: z.array(z.string()) })) });
const plan = defineExecutor({
  role: 'chat',
  name: 'talk/plan',
  input: z.strictObject({}),
  output: Asked,
  run: () => ({ subGoals: ['one', 'two'].map((id) => ({ id, needs: [] })) }),
});
const note = defineExecutor({
  role: 'chat',
  name: 'talk/note',
  input: z.strictObject({}),
  output: z.strictObject({}),
  run: async ({ session, attempt }) => {
    session('chat-1').append({ from: 'agent', text: `note of ${attempt.stepId}` });
    return {};
  },
});
const sum = defineExecutor({
  role: 'chat',
  name: 'talk/sum',
  input: z.strictObject({}),
  output: z.strictObject({ heard: z.array(z.string()) }),
  run: async ({ round, session }) => {
    const chat = session('chat-1');
    const heard = (await chat.list()).map(({ text }) => text).toSorted();
    if (round === 1) chat.append({ from: 'agent', text: 'a first guess' });
    return { heard };
  },
});
const judge = defineExecutor({
  role: 'validator',
  name: 'talk/judge',
  input: z.strictObject({}),
  output: Verdict,
  run: ({ round }): Verdict => {
    const reason = { code: 'GUESSED', path: 'heard', message: 'a guess', remedy: 'say nothing' };
    if (round === 1) return { decision: 'rework', score: 0, checks: [], reasons: [reason] };
    return { decision: 'pass', score: 1, checks: [], reasons: [] };
  },
});

test('what a plan grew speaks for itself; a later round that says nothing takes back what the one before said', async () => {
  const sessions = memorySessions();
  const grown = defineWorkflow({
    name: 'grown',
    input: z.strictObject({}),
    result: 'steps.sum.output',
    steps: {
      plan: { executor: plan, input: {} },
      note: { executor: note, input: {}, after: ['plan'] },
      sum: { executor: sum, input: {}, after: ['note'] },
      judge: { executor: judge, input: {}, after: ['sum'] },
    },
    growth: { from: 'plan', step: 'note', maxSteps: 2 },
    validation: { step: 'judge', rework: ['sum'], maxRounds: 2 },
  });
  const notes = ['note of note', 'note of note#2'];
  const run = await runInMemory(grown, { executors: [plan, note, sum, judge], input: {}, sessions });
  expect(run).toMatchObject({ state: 'completed', round: 2, result: { heard: notes } });
  const next = await runInMemory(talk, { executors: [answer], input: { say: 'so?' }, sessions, taskId: 'task-2' });
  expect((next.result as { heard: string[] }).heard.toSorted()).toEqual(notes);
});
