import OpenAI from 'openai';
import { Stream } from 'openai/streaming';

export type Chunk = OpenAI.ChatCompletionChunk;

const IS_JSON = /^application\/(?:[\w.-]+\+)?json\b/i;

/**
 * The pieces of an answer as they arrive; one piece if the server does not stream but sends it whole. `controller` ends
 * the request. Throws what the server says of itself, and `SyntaxError` for what is not JSON.
 */
export async function* readPieces(
  response: Response,
  controller: AbortController,
  client: OpenAI,
): AsyncGenerator<Chunk> {
  if (IS_JSON.test(response.headers.get('content-type') ?? '')) yield toPiece(await response.json(), response.headers);
  else yield* Stream.fromSSEResponse<Chunk>(response, controller, client);
}

type Whole = Partial<Pick<OpenAI.ChatCompletion, 'choices' | 'usage'>> & { readonly error?: object };

function toPiece(body: unknown, headers: Headers): Chunk {
  const whole = (typeof body === 'object' && body !== null ? body : {}) as Whole;
  if (whole.error) throw new OpenAI.APIError(undefined, whole.error, undefined, headers);
  const [choice] = Array.isArray(whole.choices) ? whole.choices : [];
  const message = choice?.message;
  const calls = Array.isArray(message?.tool_calls) ? message.tool_calls : [];
  // Whole calls are in a list; their pieces in a stream are numbered.
  const delta = { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) };
  return { ...whole, choices: choice === undefined ? [] : [{ ...choice, delta }] } as unknown as Chunk;
}
