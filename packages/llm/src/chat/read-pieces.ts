import { AppError } from '@cleanslate/contracts';
import OpenAI from 'openai';
import { Stream } from 'openai/streaming';

export type Chunk = OpenAI.ChatCompletionChunk;

const IS_JSON = /^application\/(?:[\w.-]+\+)?json\b/i;

/** Of a proxy, a login, or of the server's own front end. */
const IS_PAGE = /^text\/html\b/i;

/**
 * The pieces of an answer as they arrive; one piece if the server does not stream but sends it whole. `controller` ends
 * the request. Throws what the server says of itself, `SyntaxError` for what is not JSON, and `CONFIGURATION` for a
 * page.
 */
export async function* readPieces(
  response: Response,
  controller: AbortController,
  client: OpenAI,
): AsyncGenerator<Chunk> {
  const type = response.headers.get('content-type') ?? '';
  if (IS_PAGE.test(type) && (await beginsWithTag(response))) {
    controller.abort();
    throw new AppError(
      'CONFIGURATION',
      `model: its server sent a page (${response.status}, text/html) in place of an answer: check MODEL_URL`,
      {
        disposition: 'pause',
      },
    );
  }
  if (IS_JSON.test(type)) yield toPiece(await response.json(), response.headers);
  else yield* Stream.fromSSEResponse<Chunk>(response, controller, client);
}

/** Some proxies call a stream of events a page, too. Leaves the body to be read. */
async function beginsWithTag(response: Response): Promise<boolean> {
  const reader = response.clone().body?.getReader();
  const { value = new Uint8Array() } = (await reader?.read()) ?? {};
  // It fails where the stream has failed meanwhile, which whoever reads the body is told.
  reader?.cancel().catch(() => undefined);
  return new TextDecoder().decode(value).trimStart().startsWith('<');
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
