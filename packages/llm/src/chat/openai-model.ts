import { AppError } from '@cleanslate/contracts';
import type { ModelBudget } from './budget.ts';
import { Endpoint, type EndpointOptions, type HttpQuestion } from './endpoint.ts';
import { Exchange, type ExchangeParts, type ModelCall } from './exchange.ts';
import { limitOf } from './limit.ts';
import type { AskOptions, ModelAnswer, ModelProvider, ModelRequest } from './model.ts';
import { type Message, renderPrompt, toJsonSchema } from './prompt.ts';
import { readAnswer } from './read-answer.ts';
import { runTools } from './run-tools.ts';
import { promptRoom } from './tokens.ts';
import type { RefusedTool } from './tool.ts';

export type OpenAiModelOptions = EndpointOptions & {
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly maxRetries: number;
  readonly prices: ExchangeParts['prices'];
  readonly budget: ModelBudget;
  readonly onCall: (call: ModelCall) => void;
  readonly onToolRefused: (refused: RefusedTool) => void;
};

/** How much of a bad answer the model is shown when it is asked once more. */
const MAX_SHOWN = 8_000;

/** A model behind an OpenAI-compatible endpoint. */
export function openAiModel(options: OpenAiModelOptions): ModelProvider {
  const endpoint = new Endpoint(options);
  const parts: ExchangeParts = { ...options, endpoint };
  const { maxOutputTokens, onToolRefused: onRefused } = options;
  return {
    name: options.model,
    isOffline: false,
    promptTokens: promptRoom(options.contextTokens, maxOutputTokens),
    ask: (request, asked) =>
      exchange(parts, asked, (each) => askForValue(each, toQuestion(request, maxOutputTokens), request)),
    runTools: (request, asked) =>
      exchange(parts, asked, (each) => {
        const loop = {
          exchange: each,
          options: asked,
          maxOutputTokens: limitOf('maxOutputTokens', request.maxOutputTokens, maxOutputTokens),
          onRefused,
        };
        return runTools(loop, request);
      }),
  };
}

async function exchange<T>(
  parts: ExchangeParts,
  options: AskOptions,
  work: (exchange: Exchange) => Promise<T>,
): Promise<ModelAnswer<T>> {
  options.signal.throwIfAborted();
  const requests = new Exchange(parts, options);
  try {
    const value = await work(requests);
    return { value, provider: 'openai', model: parts.endpoint.model, usage: requests.usage };
  } finally {
    options.onUsage?.(requests.usage);
  }
}

function toQuestion(request: ModelRequest<unknown>, maxOutputTokens: number): HttpQuestion {
  const schema = toJsonSchema(request.output);
  const messages = renderPrompt(request, schema);
  const longest = limitOf('maxOutputTokens', request.maxOutputTokens, maxOutputTokens);
  return { purpose: request.purpose, schema, messages, maxOutputTokens: longest };
}

/** Asks, and asks once more if the answer fits no schema, saying why. Throws `MODEL_BAD_ANSWER`. */
async function askForValue<T>(exchange: Exchange, question: HttpQuestion, request: ModelRequest<T>): Promise<T> {
  const vouched = [request.instructions, ...request.data.map(({ text }) => text)];
  const { content } = await exchange.send(question);
  const first = readAnswer(content, request.output, vouched);
  if (first.ok) return first.value;
  const messages = [...question.messages, ...toCorrection(content, first.problem)];
  const again = await exchange.send({ ...question, messages });
  const second = readAnswer(again.content, request.output, vouched);
  if (second.ok) return second.value;
  throw new AppError(
    'MODEL_BAD_ANSWER',
    `model: asked twice for "${request.purpose}", and the answer was not accepted: ${second.problem}`,
  );
}

function toCorrection(content: string, problem: string): Message[] {
  return [
    { role: 'assistant', content: content.slice(0, MAX_SHOWN).toWellFormed() },
    {
      role: 'user',
      content: `That answer was not accepted: ${problem}. Answer again, with the whole JSON object and nothing else.`,
    },
  ];
}
