import { AppError } from '@cleanslate/contracts';
import { z } from 'zod';
import { serverKey, serverUrl } from '../server-settings.ts';
import type { EmbeddingProvider } from './embedding-space.ts';
import { hashedEmbeddings } from './hashed.ts';

const DIMENSION = 'must be a whole number from 8 to 16000';

/** The settings of a service that embeds; spread into its schema. The same for all services of one knowledge base. */
export const embeddingConfig = {
  EMBEDDING_MODEL: z
    .string()
    .min(1)
    .max(100)
    .default('hashed')
    .describe('"hashed", which is built in, or a model at EMBEDDING_URL'),
  EMBEDDING_DIMENSION: z
    .string()
    .regex(/^[0-9]{1,5}$/, DIMENSION)
    .transform(Number)
    .refine((value) => value >= 8 && value <= 16_000, DIMENSION)
    .default(384)
    .describe("length of the model's vectors"),
  EMBEDDING_URL: serverUrl('EMBEDDING_API_KEY')
    .optional()
    .describe('base of an OpenAI-compatible API, e.g. https://api.openai.com/v1'),
  EMBEDDING_API_KEY: serverKey.optional().describe('its key; servers of your own may need none'),
};
export type EmbeddingSettings = z.infer<z.ZodObject<typeof embeddingConfig>>;

/** The provider that a configuration names. Throws `CONFIGURATION` if a model has no server. */
export async function createEmbeddings(settings: EmbeddingSettings): Promise<EmbeddingProvider> {
  const {
    EMBEDDING_MODEL: model,
    EMBEDDING_DIMENSION: dimension,
    EMBEDDING_URL: url,
    EMBEDDING_API_KEY: apiKey,
  } = settings;
  if (model === 'hashed') return hashedEmbeddings({ dimension });
  if (url === undefined) {
    throw new AppError(
      'CONFIGURATION',
      `EMBEDDING_MODEL "${model}" needs EMBEDDING_URL, the base of an OpenAI-compatible API`,
    );
  }
  // Loaded only where it is used: it costs every process memory.
  const { openAiEmbeddings } = await import('./openai.ts');
  // Local servers (Ollama, vLLM) accept any key.
  return openAiEmbeddings({ url, apiKey: apiKey ?? 'none', model, dimension });
}
