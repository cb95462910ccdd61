import { AppError } from '@cleanslate/contracts';
import OpenAI from 'openai';
import { boundedFetch } from './bounded-fetch.ts';
import { Dialect, type Phrasing, toParameters } from './dialect.ts';
import type { JsonSchema, Message } from './prompt.ts';
import type { AnswerCollector, RawAnswer } from './raw-answer.ts';
import { readPieces } from './read-pieces.ts';
import { type Deadlines, Watch } from './watch.ts';

export type EndpointOptions = {
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  readonly deadlines: Deadlines;
};

export type HttpQuestion = {
  readonly purpose: string;
  readonly messages: readonly Message[];
  /** Undefined: no form of answer is requested, since few servers can do that while a model may call tools. */
  readonly schema?: JsonSchema;
  readonly maxOutputTokens: number;
  readonly tools?: readonly object[];
};

/** Of one request for it. */
export type HttpRequest = {
  readonly phrasing: Phrasing;
  /** Called with the pieces of the answer as they arrive. */
  readonly collector: AnswerCollector;
  readonly ends: readonly AbortSignal[];
};

/**
 * A longer answer is not an answer: some bytes for each token of the longest, each of which is a message of its own.
 */
const BYTES_PER_TOKEN = 2_000;

/** An OpenAI-compatible chat endpoint: one HTTP request at a time, never repeated by itself. */
export class Endpoint {
  readonly #options: EndpointOptions;
  readonly dialect: Dialect;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.dialect = new Dialect(options.url);
  }

  get model(): string {
    return this.#options.model;
  }

  /**
   * Throws what ended it: the caller's signal, a deadline (`MODEL_TIMEOUT`, `MODEL_STALLED`), a line that is not JSON
   * (`MODEL_STALLED`), or what the client says about the server.
   */
  async request(question: HttpQuestion, { phrasing, collector, ends }: HttpRequest): Promise<RawAnswer> {
    const { model, deadlines } = this.#options;
    const watch = new Watch(deadlines, ends);
    const { maxOutputTokens, messages, tools } = question;
    const body = {
      model,
      messages,
      ...(tools === undefined ? {} : { tools }),
      ...toParameters(phrasing, question),
    } as unknown as OpenAI.ChatCompletionCreateParamsStreaming;
    try {
      watch.begin('headers');
      const client = this.#client(maxOutputTokens);
      const own = new AbortController();
      const signal = AbortSignal.any([watch.signal, own.signal]);
      const response = await client.chat.completions.create(body, { signal }).asResponse();
      watch.begin('firstToken');
      for await (const chunk of readPieces(response, own, client)) if (collector.add(chunk)) watch.begin('idle');
      // The client ends an aborted stream as if it were complete.
      watch.signal.throwIfAborted();
      return collector.end();
    } catch (error) {
      for (const end of ends) end.throwIfAborted();
      // A fault of one answer, not of the server: others may well get theirs. Without its cause, which quotes the
      // answer.
      if (watch.expired === undefined && error instanceof SyntaxError)
        throw new AppError('MODEL_STALLED', 'model: the answer broke off in something that is not JSON');
      throw watch.expired ?? error;
    } finally {
      watch.end();
    }
  }

  #client(maxOutputTokens: number): OpenAI {
    const { url, apiKey, deadlines } = this.#options;
    const fetch = boundedFetch(64 * 1024 + maxOutputTokens * BYTES_PER_TOKEN);
    // The client's own retries would multiply ours, and wait for as long as a server says.
    return new OpenAI({
      // Not from this process's environment.
      organization: null,
      project: null,
      apiKey,
      baseURL: url,
      maxRetries: 0,
      timeout: deadlines.totalMs + 1_000,
      fetch,
      logLevel: 'off',
    });
  }
}
