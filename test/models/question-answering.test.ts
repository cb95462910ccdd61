import {
  json,
  type ModelServer,
  type Platform,
  SERVICE_NAMES,
  startModelServer,
  startPlatform,
} from '@cleanslate/testing';
import { Answer, parsePolicySet } from '@cleanslate/workflows';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readSample } from '../fixtures/answer-key.ts';
import { show } from '../fixtures/scripted-platform.ts';

let server: ModelServer;
let platform: Platform;
beforeAll(async () => {
  server = await startModelServer();
  const services = SERVICE_NAMES.filter((name) => name !== 'planner');
  platform = await startPlatform({ postgresAdminUrl: inject('postgresAdminUrl'), services, log: show });
  await platform.start('planner', { MODEL: 'simulated', MODEL_URL: server.url });
  const client = await platform.client();
  await client.facts.import(parsePolicySet(readSample('questions-knowledge-en.yaml')));
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

async function ask(question: string) {
  server.forget();
  const client = await platform.client();
  const { taskId } = await client.submit({ workflow: 'question-answering', input: { question } });
  const task = await client.result(taskId);
  expect(task.error).toBeNull();
  return Answer.parse(task.result);
}
const goal = (question: string) => ({ question, period: null, timeline: false });

test('a model takes apart what no template covers; the answer is facts, and names the question that each answers', async () => {
  server.reply([
    json({
      kind: 'multi_hop',
      confidence: 0.9,
      subGoals: [goal('Who leads the Berlin office'), goal('What is the approval limit of {g1}')],
    }),
  ]);
  const answer = await ask('Tell me how much whoever leads Berlin may approve');
  expect(answer).toMatchObject({
    outcome: 'answered',
    plan: { by: 'model', provider: { kind: 'openai', model: 'simulated' } },
  });
  expect(answer.statements).toMatchObject([{ value: 'regional director' }, { value: '20000', unit: 'EUR' }]);
  expect(answer.markdown).toContain('What is the approval limit of regional director');
  expect(server.requests).toHaveLength(1);
});

test('what a template covers is answered without a request', async () => {
  expect(await ask('How many characters must a password have?')).toMatchObject({
    outcome: 'answered',
    plan: { by: 'template' },
  });
  expect(server.requests).toHaveLength(0);
});

test('a plan of the model that could not be carried out is not carried out', async () => {
  server.reply([json({ kind: 'multi_hop', confidence: 1, subGoals: [goal('{g2}'), goal('{g1}')] })]);
  const answer = await ask('Tell me about badges for visitors');
  expect(answer).toMatchObject({ plan: { by: 'whole_question', provider: { kind: 'offline' } } });
  expect(answer.statements).toMatchObject([{ quote: 'Visitors must wear a badge.' }]);
});
