import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toVectors } from './embeddings-reply.ts';
import type { ModelReply } from './model-reply.ts';
import { type ModelMessageSeen, type ModelRequestSeen, sendJson } from './model-request.ts';
import { sendReply } from './send-reply.ts';

export type ModelScript = (request: ModelRequestSeen, n: number) => ModelReply | Promise<ModelReply>;

export type ModelServer = AsyncDisposable & {
  /** For `MODEL_URL`. */
  readonly url: string;
  readonly requests: readonly ModelRequestSeen[];
  /** Requests under way, and the most there ever were. */
  readonly concurrency: number;
  readonly maxConcurrency: number;
  /** Decides every request from now on; a list is used up in order, and its last entry stays. */
  reply(script: ModelScript | readonly ModelReply[]): void;
  /** What was seen is forgotten. */
  forget(): void;
};

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * An OpenAI-compatible server on a free port: real HTTP, streamed or not, `/v1/chat/completions` and
 * `/v1/embeddings`. It says what it is told to, with any fault, and records what it was asked and how many
 * requests were under way at once.
 */
export async function startModelServer(
  options: {
    readonly port?: number;
    readonly script?: ModelScript | readonly ModelReply[];
    readonly dimension?: number;
  } = {},
): Promise<ModelServer> {
  let script = toScript(options.script ?? [{ content: '{}' }]);
  const requests: ModelRequestSeen[] = [];
  let concurrency = 0;
  let maxConcurrency = 0;
  const server = createServer((request, response) => {
    maxConcurrency = Math.max(maxConcurrency, ++concurrency);
    response.once('close', () => concurrency--);
    answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await readBody(request);
    const seen = toSeen(request, text);
    requests.push(seen);
    if (seen.path.endsWith('/embeddings')) return sendJson(response, 200, toVectors(seen.body, options.dimension ?? 8));
    if (!seen.path.endsWith('/chat/completions'))
      return sendJson(response, 404, { error: { message: 'no such path' } });
    await sendReply(response, seen, await script(seen, requests.length));
  };
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get concurrency() {
      return concurrency;
    },
    get maxConcurrency() {
      return maxConcurrency;
    },
    reply: (next) => {
      script = toScript(next);
    },
    forget: () => {
      requests.length = 0;
      maxConcurrency = concurrency;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function toScript(given: ModelScript | readonly ModelReply[]): ModelScript {
  if (typeof given === 'function') return given;
  let at = 0;
  return () => given[Math.min(at++, given.length - 1)] ?? { content: '{}' };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function toSeen(request: IncomingMessage, text: string): ModelRequestSeen {
  const body = JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>;
  return {
    path: request.url ?? '',
    at: performance.now(),
    headers: request.headers,
    body,
    text,
    messages: Array.isArray(body['messages']) ? (body['messages'] as ModelMessageSeen[]) : [],
  };
}
