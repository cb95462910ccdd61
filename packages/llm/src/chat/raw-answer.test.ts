import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { AnswerCollector } from './raw-answer.ts';

type Piece = NonNullable<OpenAI.ChatCompletionChunk.Choice.Delta['tool_calls']>[number];

/** The calls of an answer that comes in these pieces. */
function collect(pieces: readonly Piece[]) {
  const collector = new AnswerCollector();
  const toChunk = (delta: object, finish_reason: string | null) =>
    ({ choices: [{ index: 0, delta, finish_reason }] }) as OpenAI.ChatCompletionChunk;
  for (const piece of pieces) collector.add(toChunk({ tool_calls: [piece] }, null));
  collector.add(toChunk({}, 'tool_calls'));
  return collector.end().toolCalls;
}

test('an answer that comes as lists of parts is the text of those that are text', () => {
  const collector = new AnswerCollector();
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Let me see.' }] };
  for (const content of [[thinking], [{ type: 'text', text: '{"a":' }], [{ type: 'text', text: '1}' }, null], '\n']) {
    const choice = { index: 0, delta: { content }, finish_reason: content === '\n' ? 'stop' : null };
    expect(collector.add({ choices: [choice] } as unknown as OpenAI.ChatCompletionChunk)).toBe(true);
  }
  expect(collector.end()).toMatchObject({ content: '{"a":1}\n', toolCalls: [], reasoning: undefined });
});

describe('tool calls that come in pieces', () => {
  test('are put together by their index', () => {
    const calls = collect([
      { index: 0, id: 'a', function: { name: 'read', arguments: '{"p' } },
      { index: 1, id: 'b', function: { name: 'find', arguments: '' } },
      { index: 0, function: { arguments: '":1}' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(calls).toEqual([
      { id: 'a', name: 'read', arguments: '{"p":1}' },
      { id: 'b', name: 'find', arguments: '{}' },
    ]);
  });

  test('whole ones that a server numbers all alike are so many calls', () => {
    const calls = collect([
      { index: 0, id: 'a', function: { name: 'read', arguments: '{"p":1}' } },
      { index: 0, id: 'b', function: { name: 'read', arguments: '{"p":2}' } },
    ]);
    expect(calls).toEqual([
      { id: 'a', name: 'read', arguments: '{"p":1}' },
      { id: 'b', name: 'read', arguments: '{"p":2}' },
    ]);
  });

  test('one whose id is another in every piece is one call', () => {
    const calls = collect([
      { index: 0, id: 'a', function: { name: 'read', arguments: '' } },
      { index: 0, id: 'b', function: { arguments: '{}' } },
    ]);
    expect(calls).toEqual([{ id: 'a', name: 'read', arguments: '{}' }]);
  });

  test('an index that leaves others out makes no calls of them', () => {
    expect(collect([{ index: 7, id: 'a', function: { name: 'read', arguments: '{}' } }])).toEqual([
      { id: 'a', name: 'read', arguments: '{}' },
    ]);
  });

  test('a name that comes whole with every piece is that name; arguments that come as an object are its JSON', () => {
    const calls = collect([
      { index: 0, id: 'a', function: { name: 'read', arguments: '{"p' } },
      { index: 0, id: 'a', function: { name: 'read', arguments: '":1}' } },
      { index: 1, id: 'b', function: { name: 'find', arguments: { p: 2 } as unknown as string } },
    ]);
    expect(calls).toEqual([
      { id: 'a', name: 'read', arguments: '{"p":1}' },
      { id: 'b', name: 'find', arguments: '{"p":2}' },
    ]);
  });

  test('without ids they get one each', () => {
    const calls = collect([
      { index: 0, function: { name: 'read', arguments: '{}' } },
      { index: 1, function: { name: 'find', arguments: '{}' } },
    ]);
    expect(calls.map(({ id }) => id)).toEqual(['call_0', 'call_1']);
  });
});
