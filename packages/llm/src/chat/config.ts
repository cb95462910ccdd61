import { z } from 'zod';
import { serverKey, serverUrl } from '../server-settings.ts';

/**
 * Digits and nothing else: `abc`, `-1`, `1e9` and `Infinity` are refused; read as numbers they would mean "for ever".
 */
function whole(min: number, max: number) {
  const text = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,10}$/, text)
    .transform(Number)
    .refine((value) => value >= min && value <= max, text);
}

const price = z
  .string()
  .regex(/^[0-9]{1,6}(?:\.[0-9]{1,6})?$/, 'must be a price such as 0.15')
  .transform(Number)
  .optional();

/** The settings of a service that asks a model; spread into its schema. Without `MODEL` the rules answer. */
export const modelConfig = {
  MODEL: z.string().min(1).max(200).optional().describe('the model at MODEL_URL; unset: rules answer, without a model'),
  MODEL_URL: serverUrl('MODEL_API_KEY')
    .optional()
    .describe('base of an OpenAI-compatible API, e.g. https://api.openai.com/v1'),
  MODEL_API_KEY: serverKey.optional().describe('its key; servers of your own may need none'),
  MODEL_CONTEXT_TOKENS: whole(1_000, 10_000_000)
    .default(32_768)
    .describe("the model's context window; a prompt that does not fit is refused, not sent"),
  MODEL_MAX_OUTPUT_TOKENS: whole(16, 1_000_000)
    .optional()
    .describe('longest answer, unless a request says otherwise; unset: 4096, but at most half of the window'),
  LLM_MAX_RETRIES: whole(0, 10).default(2).describe('how often a request is repeated that failed for a passing reason'),
  MODEL_TIMEOUT_MS: whole(100, 3_600_000)
    .default(180_000)
    .describe('time limit of one request, from its start to the last token'),
  MODEL_HEADERS_TIMEOUT_MS: whole(50, 280_000).default(90_000).describe('time limit until the server begins to answer'),
  MODEL_FIRST_TOKEN_TIMEOUT_MS: whole(50, 280_000)
    .default(90_000)
    .describe('time limit from the headers to the first token'),
  MODEL_IDLE_TIMEOUT_MS: whole(50, 280_000).default(30_000).describe('time limit between two tokens'),
  MODEL_INPUT_PRICE: price.describe('price of a million prompt tokens; if set, costs are counted'),
  MODEL_OUTPUT_PRICE: price.describe('price of a million tokens of answers'),
};
export type ModelSettings = z.infer<z.ZodObject<typeof modelConfig>>;
