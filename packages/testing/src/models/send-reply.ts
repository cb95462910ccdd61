import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GoodReply, ModelReply } from './model-reply.ts';
import { type ModelRequestSeen, sendJson } from './model-request.ts';

export async function sendReply(response: ServerResponse, seen: ModelRequestSeen, reply: ModelReply): Promise<void> {
  if ('broken' in reply) {
    if (reply.broken === 'reset') response.socket?.resetAndDestroy();
    // Else nothing, until the client goes.
    return;
  }
  if ('status' in reply)
    return sendJson(response, reply.status, reply.body ?? { error: { message: 'no' } }, reply.headers);
  if (reply.delayMs !== undefined) await sleep(reply.delayMs);
  if (response.destroyed) return;
  if (seen.body['stream'] === true && reply.whole !== true) await stream(response, seen, reply);
  else sendJson(response, 200, { ...head(seen, 'chat.completion'), choices: [whole(reply)], ...usageOf(seen, reply) });
}

function head(seen: ModelRequestSeen, object: string) {
  return { id: 'chatcmpl-simulated', object, created: 1_700_000_000, model: seen.body['model'] };
}

function whole(reply: GoodReply) {
  const message = {
    role: 'assistant',
    content: reply.content ?? null,
    ...(reply.reasoning === undefined ? {} : toThinking(reply, reply.reasoning)),
    ...(reply.refusal === undefined ? {} : { refusal: reply.refusal }),
    ...(reply.toolCalls === undefined ? {} : { tool_calls: toToolCalls(reply) }),
  };
  return { index: 0, message, finish_reason: reply.finishReason ?? (reply.toolCalls ? 'tool_calls' : 'stop') };
}

function toToolCalls({ toolCalls = [] }: GoodReply) {
  return toolCalls.map((call, index) => ({ index, id: `call_${index}`, type: 'function', function: call }));
}

async function stream(response: ServerResponse, seen: ModelRequestSeen, reply: GoodReply): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head(seen, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  let sent = 0;
  for (const delta of toDeltas(reply)) {
    if (sent === reply.stallAfter || response.destroyed) return;
    if (sent === reply.resetAfter) return void response.socket?.resetAndDestroy();
    response.write(chunk(delta));
    sent++;
    if (reply.chunkDelayMs !== undefined) await sleep(reply.chunkDelayMs);
  }
  if (sent === reply.stallAfter) return;
  if (reply.rawLine !== undefined) response.write(`${reply.rawLine}\n\n`);
  if (reply.streamError !== undefined) {
    response.end(`data: ${JSON.stringify({ error: reply.streamError })}\n\n`);
    return;
  }
  response.write(chunk({}, reply.finishReason ?? (reply.toolCalls ? 'tool_calls' : 'stop')));
  const { usage } = usageOf(seen, reply);
  const wanted = (seen.body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage === true;
  if (usage && wanted)
    response.write(`data: ${JSON.stringify({ ...head(seen, 'chat.completion.chunk'), choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

function* toDeltas(reply: GoodReply): Generator<object> {
  yield { role: 'assistant', content: reply.content === null ? null : '' };
  if (reply.reasoning === '') yield toThinking(reply, '');
  for (const piece of cut(reply.reasoning ?? '', reply.chunkSize)) yield toThinking(reply, piece);
  for (const piece of cut(reply.content ?? '', reply.chunkSize)) yield { content: piece };
  for (const piece of cut(reply.refusal ?? '', reply.chunkSize)) yield { refusal: piece };
  for (const { function: call, ...rest } of toToolCalls(reply)) {
    yield { tool_calls: [{ ...rest, function: { name: call.name, arguments: '' } }] };
    for (const piece of cut(call.arguments, reply.chunkSize))
      yield { tool_calls: [{ index: rest.index, function: { arguments: piece } }] };
  }
}

function toThinking({ reasoningField = 'reasoning_content' }: GoodReply, text: string): object {
  return { [reasoningField]: text };
}

function cut(text: string, size = 24): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}

function usageOf(seen: ModelRequestSeen, { usage, content, reasoning }: GoodReply) {
  if (usage === null) return {};
  const prompt = usage?.prompt_tokens ?? countTokens(JSON.stringify(seen.messages.map((message) => message.content)));
  const completion = usage?.completion_tokens ?? countTokens(`${content ?? ''}${reasoning ?? ''}`);
  return { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } };
}

/** About what a tokenizer says: a word or a character of Chinese each. */
function countTokens(text: string): number {
  return (text.match(/\p{Script=Han}|[\p{L}\p{N}]{1,6}|[^\s\p{L}\p{N}]{1,3}/gu) ?? []).length;
}
