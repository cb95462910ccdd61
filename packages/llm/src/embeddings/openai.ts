import { AppError } from '@cleanslate/contracts';
import OpenAI from 'openai';
import { fetchThere, toElsewhere } from '../server-settings.ts';
import { defineSpace, type EmbeddingProvider, toUnitVector } from './embedding-space.ts';

export type OpenAiEmbeddingOptions = {
  /** Base of an OpenAI-compatible API, e.g. `https://api.openai.com/v1`. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  readonly dimension: number;
  /**
   * Ask the server for this dimension (models that can shorten their vectors). Default false: then its vectors must
   * have it already.
   */
  readonly sendDimension?: boolean;
  /** Time limit of one call. Milliseconds, default 30 s. */
  readonly timeoutMs?: number;
  /** Texts of one call. Default 64. */
  readonly batch?: number;
};

/**
 * Longer texts are cut: most models refuse what exceeds their context, and one statement that is too long must not hold
 * up the others.
 */
const MAX_CHARS = 8_000;
/** Errors about the texts themselves: servers differ in what they call one that is too long. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Embeddings of any OpenAI-compatible server. Errors are `EMBEDDINGS_UNAVAILABLE` (worth a retry; terminal if it
 * refuses a text) or `CONFIGURATION` (key, model or URL is wrong).
 */
export function openAiEmbeddings(options: OpenAiEmbeddingOptions): EmbeddingProvider {
  const { model, dimension, timeoutMs = 30_000 } = options;
  const space = defineSpace({ model, dimension, normaliser: `cut-${MAX_CHARS}` });
  const { apiKey, url: baseURL } = options;
  const client = new OpenAI({ apiKey, baseURL, timeout: timeoutMs, maxRetries: 0, fetch: fetchThere });
  return {
    space,
    rankWeight: 1,
    batch: options.batch ?? 64,
    embed: async (texts, signal) => {
      if (texts.length === 0) return [];
      const body = {
        model,
        input: texts.map((text) => text.slice(0, MAX_CHARS).toWellFormed()),
        // Explicit, since many compatible servers do not know the client's default (base64).
        encoding_format: 'float' as const,
        ...(options.sendDimension === true ? { dimensions: dimension } : {}),
      };
      const answer = await client.embeddings.create(body, signal === undefined ? {} : { signal }).catch((error) => {
        throw toEmbeddingError(error, model);
      });
      // Not an answer without vectors, which would leave its texts without any for good: a page, or something else.
      if (!Array.isArray(answer.data)) throw toEmbeddingError(new Error('no list of vectors'), model);
      const vectors: (Float32Array | null)[] = texts.map(() => null);
      // The order of the answer isn't promised; the index is.
      for (const item of answer.data) {
        const values: unknown = item?.embedding;
        if (Number.isInteger(item?.index) && item.index in vectors && Array.isArray(values))
          vectors[item.index] = toUnitVector(values, dimension);
      }
      return vectors;
    },
  };
}

/** Neither the request's headers nor the texts: an error travels and is logged. */
function toEmbeddingError(error: unknown, model: string): AppError {
  const { status, headers } = error instanceof OpenAI.APIError ? error : {};
  if (status !== undefined && status >= 300 && status < 400)
    return new AppError(
      'CONFIGURATION',
      `embeddings: the server sends requests on${toElsewhere(headers)} (${status}), and neither key nor texts follow: set EMBEDDING_URL to where it is`,
    );
  if (status === 401 || status === 403)
    return new AppError('CONFIGURATION', `embeddings: the server refused the key (${status}): check EMBEDDING_API_KEY`);
  if (status === 404)
    return new AppError(
      'CONFIGURATION',
      `embeddings: no model "${model}" there (404): check EMBEDDING_URL, EMBEDDING_MODEL`,
    );
  const what = status === undefined ? 'no answer' : `status ${status}`;
  return new AppError('EMBEDDINGS_UNAVAILABLE', `embeddings: ${what} from the server of "${model}"`, {
    disposition: status !== undefined && REFUSALS.has(status) ? 'terminal' : 'retryable',
  });
}
