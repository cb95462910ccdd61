import { isStrict, type JsonSchema } from './prompt.ts';

const FORMATS = ['json_schema', 'json_object', 'text'] as const;
type Format = (typeof FORMATS)[number];

/** What an endpoint turned out to understand: learned from its refusals, once, and kept for the life of the process. */
export class Dialect {
  #format: Format = 'json_schema';
  #limit: 'max_tokens' | 'max_completion_tokens';
  #limitSwapped = false;
  #streamUsage = true;
  #temperature = true;
  /** Purposes whose schema it refused while it takes others. */
  readonly #refusedSchemas = new Set<string>();

  constructor(url: string) {
    // OpenAI's own reasoning models refuse the name that all the others know.
    this.#limit = new URL(url).hostname.endsWith('.openai.com') ? 'max_completion_tokens' : 'max_tokens';
  }

  toParameters(purpose: string, schema: JsonSchema | undefined, maxOutputTokens: number): Record<string, unknown> {
    return {
      ...(schema === undefined ? {} : this.#toFormat(purpose, schema)),
      [this.#limit]: maxOutputTokens,
      ...(this.#temperature ? { temperature: 0 } : {}),
      stream: true,
      ...(this.#streamUsage ? { stream_options: { include_usage: true } } : {}),
    };
  }

  /** True where a refusal taught something: the same request is worth another try at once. Each thing is learned once, so this ends. */
  learn(status: number | undefined, words: string, purpose: string): boolean {
    if (status !== 400 && status !== 422 && status !== 501) return false;
    if (/max_(?:completion_)?tokens/.test(words) && !this.#limitSwapped) {
      this.#limitSwapped = true;
      this.#limit = this.#limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
      return true;
    }
    if (/stream_options|include_usage/.test(words) && this.#streamUsage) {
      this.#streamUsage = false;
      return true;
    }
    if (/temperature/i.test(words) && this.#temperature) {
      this.#temperature = false;
      return true;
    }
    return /response_format|json_?schema|json_?object|json mode|structured output|guided/i.test(words)
      ? this.#learnFormat(words, purpose)
      : false;
  }

  #learnFormat(words: string, purpose: string): boolean {
    if (/invalid schema|invalid json schema/i.test(words) && !this.#refusedSchemas.has(purpose)) {
      this.#refusedSchemas.add(purpose);
      return true;
    }
    const next = FORMATS[FORMATS.indexOf(this.#format) + 1];
    if (next === undefined) return false;
    this.#format = next;
    return true;
  }

  #toFormat(purpose: string, schema: JsonSchema): object {
    const name = purpose.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60) || 'answer';
    const format = this.#format === 'json_schema' && this.#refusedSchemas.has(purpose) ? 'json_object' : this.#format;
    if (format === 'text') return {};
    if (format === 'json_object') return { response_format: { type: 'json_object' } };
    return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: isStrict(schema) } } };
  }
}
