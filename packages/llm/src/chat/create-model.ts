import { AppError } from '@cleanslate/contracts';
import { type ModelBudget, unlimited } from './budget.ts';
import type { ModelSettings } from './config.ts';
import type { ModelCall } from './exchange.ts';
import type { ModelProvider } from './model.ts';
import { offlineModel } from './offline.ts';
import { promptRoom } from './tokens.ts';
import type { RefusedTool } from './tool.ts';

/** For instructions, schema and a little data. */
const MIN_PROMPT_TOKENS = 500;
const LONGEST_ANSWER_TOKENS = 4_096;

export type ModelParts = {
  /** What the pool shares. Default: no limits. */
  readonly budget?: ModelBudget;
  /** Called for every HTTP request once it is over. */
  readonly onCall?: (call: ModelCall) => void;
  /** Called for tool calls that a request did not allow. */
  readonly onToolRefused?: (refused: RefusedTool) => void;
};

/**
 * The provider that a configuration names. Throws `CONFIGURATION` if a model has no server, or its window has no room
 * besides the longest answer that is set.
 */
export async function createModel(settings: ModelSettings, parts: ModelParts = {}): Promise<ModelProvider> {
  const { MODEL: model, MODEL_URL: url } = settings;
  if (model === undefined) return offlineModel();
  if (url === undefined || !URL.canParse(url))
    throw new AppError('CONFIGURATION', `MODEL "${model}" needs MODEL_URL, the base of an OpenAI-compatible API`);
  const { MODEL_CONTEXT_TOKENS: window, MODEL_MAX_OUTPUT_TOKENS: longest = longestAnswer(window) } = settings;
  const room = promptRoom(window, longest);
  if (room < MIN_PROMPT_TOKENS)
    throw new AppError(
      'CONFIGURATION',
      `MODEL_CONTEXT_TOKENS ${window} leaves ${Math.max(0, room)} tokens for a prompt beside the longest answer, MODEL_MAX_OUTPUT_TOKENS ${longest}: at least ${MIN_PROMPT_TOKENS} are needed`,
    );
  // Loaded only where it is used: it costs every process memory.
  const { openAiModel } = await import('./openai-model.ts');
  return openAiModel({
    // Local servers (Ollama, vLLM) accept any key.
    url,
    model,
    apiKey: settings.MODEL_API_KEY ?? 'none',
    deadlines: {
      totalMs: settings.MODEL_TIMEOUT_MS,
      headersMs: settings.MODEL_HEADERS_TIMEOUT_MS,
      firstTokenMs: settings.MODEL_FIRST_TOKEN_TIMEOUT_MS,
      idleMs: settings.MODEL_IDLE_TIMEOUT_MS,
    },
    contextTokens: window,
    maxOutputTokens: longest,
    maxRetries: settings.LLM_MAX_RETRIES,
    prices: toPrices(settings),
    budget: parts.budget ?? unlimited,
    onCall: parts.onCall ?? (() => undefined),
    onToolRefused: parts.onToolRefused ?? (() => undefined),
  });
}

/** If none is set: never the larger part of a window, and the shortest prompt always fits beside it. */
function longestAnswer(window: number): number {
  return Math.min(LONGEST_ANSWER_TOKENS, Math.floor(window / 2), promptRoom(window, MIN_PROMPT_TOKENS));
}

function toPrices({ MODEL_INPUT_PRICE: input, MODEL_OUTPUT_PRICE: output }: ModelSettings) {
  if (input === undefined && output === undefined) return undefined;
  return { prompt: (input ?? 0) / 1e6, completion: (output ?? 0) / 1e6 };
}
