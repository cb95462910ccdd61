import { isStrict, type JsonSchema } from './prompt.ts';

const FORMATS = ['json_schema', 'json_object', 'text'] as const;
type Format = (typeof FORMATS)[number];

/** The form of one request; a refusal says something about this form, whatever was learned since. */
export type Phrasing = {
  /** Undefined: no form of answer is requested. */
  readonly format: Format | undefined;
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  readonly streamUsage: boolean;
  readonly temperature: boolean;
};

/** A refused request: the server's status and words, and the form it was sent in. */
export type Refusal = {
  readonly status: number | undefined;
  readonly words: string;
  readonly purpose: string;
  readonly sentWith: Phrasing;
};

/** The value is refused, not the name of its parameter. */
const BAD_VALUE =
  /too (?:large|big|high|long|many|small)|at (?:most|least)|(?:less|greater|more|larger) than|exceed|range|maximum/i;

/** What an endpoint turned out to understand: learned once, from its refusals, and kept for the life of the process. */
export class Dialect {
  #format: Format = 'json_schema';
  #limit: Phrasing['limit'];
  #limitSwapped = false;
  #streamUsage = true;
  #temperature = true;
  /** Purposes whose schema it refused while it accepts others. */
  readonly #formats = new Map<string, Format>();

  constructor(url: string) {
    // OpenAI's own reasoning models refuse the name that all the others know.
    this.#limit = new URL(url).hostname.endsWith('.openai.com') ? 'max_completion_tokens' : 'max_tokens';
  }

  /** As of now. `asksForm`: whether the request says which form its answer must have. */
  phrase(purpose: string, asksForm: boolean): Phrasing {
    const formats = [this.#format, this.#formats.get(purpose) ?? 'json_schema'] as const;
    return {
      format: asksForm ? FORMATS[Math.max(...formats.map((each) => FORMATS.indexOf(each)))] : undefined,
      limit: this.#limit,
      streamUsage: this.#streamUsage,
      temperature: this.#temperature,
    };
  }

  /**
   * True if the same request is worth another try at once: the refusal taught something, or the request's form is out
   * of date, since parallel requests are refused for the same reason. Each thing is learned once, so this ends.
   */
  learn({ status, words, purpose, sentWith }: Refusal): boolean {
    if (status !== 400 && status !== 422 && status !== 501) return false;
    if (!isSame(sentWith, this.phrase(purpose, sentWith.format !== undefined))) return true;
    if (/max_(?:completion_)?tokens/.test(words) && !BAD_VALUE.test(words) && !this.#limitSwapped) {
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
      ? this.#learnFormat(words, purpose, sentWith.format)
      : false;
  }

  /** One step down from what was refused. */
  #learnFormat(words: string, purpose: string, refused: Format | undefined): boolean {
    const next = refused === undefined ? undefined : FORMATS[FORMATS.indexOf(refused) + 1];
    if (next === undefined) return false;
    if (/invalid schema|invalid json schema/i.test(words) || this.#formats.has(purpose))
      this.#formats.set(purpose, next);
    else this.#format = next;
    return true;
  }
}

function isSame(a: Phrasing, b: Phrasing): boolean {
  return (
    a.format === b.format && a.limit === b.limit && a.streamUsage === b.streamUsage && a.temperature === b.temperature
  );
}

/** The parameters of a request in this form. */
export function toParameters(
  { format, limit, streamUsage, temperature }: Phrasing,
  { purpose, schema, maxOutputTokens }: { purpose: string; schema?: JsonSchema; maxOutputTokens: number },
): Record<string, unknown> {
  return {
    ...(schema === undefined ? {} : toFormat(format, purpose, schema)),
    [limit]: maxOutputTokens,
    ...(temperature ? { temperature: 0 } : {}),
    stream: true,
    ...(streamUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

function toFormat(format: Format | undefined, purpose: string, schema: JsonSchema): object {
  if (format === undefined || format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  const name = purpose.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60) || 'answer';
  return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: isStrict(schema) } } };
}
