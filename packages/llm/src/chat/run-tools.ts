import { AppError, findInexactNumber, issueWords, parseJsonText } from '@cleanslate/contracts';
import type { Exchange } from './exchange.ts';
import type { FoundJson } from './find-json.ts';
import { limitOf } from './limit.ts';
import type { AskOptions } from './model.ts';
import { ProgressGuard } from './progress-guard.ts';
import { type Message, renderPrompt, toJsonSchema } from './prompt.ts';
import type { RawAnswer, RawToolCall } from './raw-answer.ts';
import { readAnswer } from './read-answer.ts';
import { type ModelTool, type RefusedTool, type ToolRequest, toToolSpec } from './tool.ts';
import { renderBlocks } from './untrusted.ts';

const DEFAULTS = { maxCalls: 16, maxTokens: 200_000 };
/** Most of one result that the model is shown. */
const MAX_RESULT_CHARS = 20_000;
const MAX_BROKEN_CALLS = 2;
const MAX_BAD_ANSWERS = 1;

export type ToolLoop = {
  readonly exchange: Exchange;
  readonly options: AskOptions;
  readonly maxOutputTokens: number;
  readonly onRefused: (refused: RefusedTool) => void;
};

type Turn = { readonly call: RawToolCall; readonly text: string; readonly broken: boolean };

/**
 * Lets a model call the request's tools until it answers in the schema. Throws `NO_PROGRESS`, `MODEL_BAD_ANSWER` and
 * the like, or what a tool threw.
 */
export async function runTools<T>(loop: ToolLoop, request: ToolRequest<T>): Promise<T> {
  const guard = new ProgressGuard({
    maxCalls: limitOf('maxCalls', request.maxCalls, DEFAULTS.maxCalls),
    maxTokens: limitOf('maxTokens', request.maxTokens, DEFAULTS.maxTokens),
  });
  const messages: Message[] = renderPrompt(request, toJsonSchema(request.output));
  const vouched = [request.instructions, ...request.data.map(({ text }) => text)];
  const question = {
    purpose: request.purpose,
    tools: request.tools.map(toToolSpec),
    maxOutputTokens: loop.maxOutputTokens,
  };
  let broken = 0;
  for (let bad = 0; ; ) {
    // Cut arguments never get this far: a cut answer is an error.
    const raw = await loop.exchange.send({ ...question, messages });
    guard.onTokens(loop.exchange.usage.promptTokens + loop.exchange.usage.completionTokens);
    if (raw.toolCalls.length === 0) {
      const read = readAnswer(raw.content, request.output, vouched);
      if (read.ok) return read.value;
      if (++bad > MAX_BAD_ANSWERS)
        throw new AppError(
          'MODEL_BAD_ANSWER',
          `model: asked twice for "${request.purpose}", and the answer was not accepted: ${read.problem}`,
        );
      messages.push({ role: 'assistant', content: raw.content.slice(0, 8_000).toWellFormed() });
      messages.push({
        role: 'user',
        content: `That answer was not accepted: ${read.problem}. Answer again, with the whole JSON object.`,
      });
      continue;
    }
    const turns: Turn[] = [];
    for (const call of raw.toolCalls) turns.push(await runCall(loop, request, guard, call));
    broken += turns.filter((turn) => turn.broken).length;
    if (broken > MAX_BROKEN_CALLS)
      throw new AppError('MODEL_BAD_ANSWER', 'model: it calls tools with arguments that are not JSON');
    vouched.push(...turns.map(({ text }) => text));
    messages.push(toAssistantTurn(raw, turns), ...turns.map(toToolTurn));
  }
}

async function runCall<T>(
  loop: ToolLoop,
  request: ToolRequest<T>,
  guard: ProgressGuard,
  call: RawToolCall,
): Promise<Turn> {
  const tool = request.tools.find(({ name }) => name === call.name);
  const input = readArguments(call.arguments);
  guard.onCall(call.name.slice(0, 64), input?.value ?? call.arguments);
  if (tool === undefined) {
    loop.onRefused({ purpose: request.purpose, tool: call.name.slice(0, 64) });
    const allowed = request.tools.map(({ name }) => name).join(', ');
    return { call, text: `Refused: there is no such tool. There are: ${allowed}.`, broken: false };
  }
  if (input === undefined) return { call, text: 'Not run: the arguments are not a valid JSON object.', broken: true };
  if (input.inexact !== undefined)
    return { call, text: `Not run: the arguments hold ${input.inexact}: send it as text, in quotes.`, broken: false };
  const text = await runTool(tool, input.value, loop.options.signal);
  guard.onResult(tool.name, text);
  return { call, text, broken: false };
}

async function runTool(tool: ModelTool, value: unknown, signal: AbortSignal): Promise<string> {
  const parsed = tool.input.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const what = issue === undefined ? 'wrong arguments' : issueWords(issue, value).slice(0, 300);
    return `Not run: "${issue?.path.join('.') ?? ''}": ${what}.`;
  }
  signal.throwIfAborted();
  const result = await tool.run(parsed.data, { signal });
  signal.throwIfAborted();
  const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');
  return text.length <= MAX_RESULT_CHARS
    ? text
    : `${text.slice(0, MAX_RESULT_CHARS).toWellFormed()}… (cut: ${text.length} characters)`;
}

function readArguments(given: string): FoundJson | undefined {
  try {
    // Models leave out the arguments of tools that take none.
    const text = given.trim() === '' ? '{}' : given;
    return { value: parseJsonText(text, 'arguments'), inexact: findInexactNumber(text) };
  } catch {
    return undefined;
  }
}

/**
 * The model's own message, as the next request repeats it: with valid JSON only, and with its thinking if the server
 * sent some and wants it back.
 */
function toAssistantTurn(raw: RawAnswer, turns: readonly Turn[]): Message {
  return {
    role: 'assistant',
    content: raw.content === '' ? null : raw.content.toWellFormed(),
    tool_calls: turns.map(({ call, broken }) => ({
      id: call.id,
      type: 'function' as const,
      function: {
        // Servers refuse invented names (`functions.read`), even those that sent them.
        name: call.name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed',
        arguments: broken || call.arguments.trim() === '' ? '{}' : call.arguments,
      },
    })),
    ...(raw.reasoning === undefined ? {} : { [raw.reasoning.field]: raw.reasoning.text }),
  };
}

function toToolTurn({ call, text }: Turn): Message {
  return { role: 'tool', tool_call_id: call.id, content: renderBlocks([{ id: call.id, text }]).text };
}
