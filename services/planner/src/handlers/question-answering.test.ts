import { assertRemembersNothing, fakeStepContext } from '@cleanslate/runtime/testing';
import { describe, expect, test } from 'vitest';
import { planExecutor } from './question-answering.ts';

const pin = { validAt: '2026-11-01T00:00:00.000Z', revision: 1 };
const inputOf = (question: string) => ({ question, accessLevel: null, pin });

/** The plan that the executor makes of a question, where a model would say this. */
async function plan(question: string, said?: object) {
  let asked = 0;
  const { model } = fakeStepContext();
  const context = fakeStepContext({
    model: {
      ...model,
      ask: async (request) => {
        asked += 1;
        if (said === undefined) return await model.ask(request);
        expect(request.data.map(({ text }) => text)).toContain(question);
        expect(request.instructions).not.toContain(question);
        const value = request.output.parse(said);
        return {
          value,
          provider: 'openai',
          model: 'm-1',
          usage: { promptTokens: 1, completionTokens: 1, requests: 1 },
        };
      },
    },
  });
  const output = await planExecutor().execute(context, inputOf(question));
  return { asked, output };
}

test('two questions in both orders are planned the same: nothing of one is in the other', async () => {
  const inputs = [inputOf('What is the limit in 2024?'), inputOf('客户和供应商的付款期限有什么不同？')] as const;
  await expect(assertRemembersNothing(planExecutor(), inputs)).resolves.toBeUndefined();
});

test('what a template covers is never asked of a model', async () => {
  const { asked, output } = await plan('What is the limit?', { kind: 'lookup', confidence: 1, subGoals: [] });
  expect(asked).toBe(0);
  expect(output).toMatchObject({ plan: { by: 'template', provider: { kind: 'offline' } } });
});

test.each(['???', '？', '2024年？', `Tell me about ${'the office and '.repeat(60)}the garden`, 'x'.repeat(1_000)])(
  '%j is a question, too: one search, where there is no model',
  async (question) => {
    const { output } = await plan(question);
    expect(output).toMatchObject({ plan: { by: 'whole_question' }, subGoals: [{ id: 'g1' }] });
  },
);

test('what no template covers is one search by both channels, where there is no model', async () => {
  const { output } = await plan('Tell me about parking');
  expect(output).toMatchObject({
    plan: { by: 'whole_question', confidence: 0.5, provider: { kind: 'offline' } },
    subGoals: [{ id: 'g1', question: 'Tell me about parking', channels: ['words', 'vectors'] }],
  });
});

describe('a model', () => {
  const goal = (question: string, change: object = {}) => ({ question, period: null, timeline: false, ...change });
  const tell = 'Tell me about the limit of whoever leads Berlin';

  test('takes a question apart; what waits for what is inferred by rule', async () => {
    const said = {
      kind: 'multi_hop',
      confidence: 0.9,
      subGoals: [goal('What is the limit of {g2}'), goal('Who leads Berlin')],
    };
    expect((await plan(tell, said)).output).toMatchObject({
      plan: { by: 'model', provider: { kind: 'openai', model: 'm-1' } },
      subGoals: [
        { id: 'g2', needs: [], channels: ['words'], accessLevel: 'internal' },
        { id: 'g1', needs: ['g2'] },
      ],
    });
  });

  test('that is not sure makes both channels be searched', async () => {
    const said = { kind: 'lookup', confidence: 0.69, subGoals: [goal('What is the limit')] };
    expect((await plan(tell, said)).output).toMatchObject({ subGoals: [{ channels: ['words', 'vectors'] }] });
  });

  test.each([
    ['a cycle', [goal('{g2}'), goal('{g1}')]],
    ['a sub-goal that is not there', [goal('What is the limit of {g7}')]],
    ['a number that nobody asked about', [goal('Is the limit EUR 900')]],
    ['a period that ends before it begins', [goal('x', { period: { from: pin.validAt, until: pin.validAt } })]],
  ])('whose plan holds %s is not followed: the whole question is searched for', async (_name, subGoals) => {
    const { output } = await plan(tell, { kind: 'lookup', confidence: 1, subGoals });
    expect(output).toMatchObject({ plan: { by: 'whole_question' }, subGoals: [{ question: tell }] });
  });
});
