import type { Agent, request } from 'undici';
import { sourceError } from '../source-error.ts';
import type { GuardOptions } from './guarded-agent.ts';
import { toNetworkError } from './network-error.ts';
import { readBounded } from './read-bounded.ts';

export type FetchOptions = GuardOptions & {
  /** Larger bodies are refused, and no more than this is read of them. */
  readonly maxBytes: number;
  /** For the whole request with its redirects, in milliseconds. */
  readonly timeoutMs: number;
};

export type FetchRequest = {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Authentication headers: another origin never gets them. */
  readonly credentials?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
};

export type FetchAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The final URL, after redirects. */
  readonly url: URL;
};

export type GuardedFetch = AsyncDisposable & {
  /**
   * Throws `SOURCE_FORBIDDEN`, `SOURCE_UNAVAILABLE`, `SOURCE_TIMEOUT`, `SOURCE_TOO_LARGE`,
   * `SOURCE_BAD_ANSWER`, or the signal's reason.
   */
  fetch(url: URL, request: FetchRequest): Promise<FetchAnswer>;
};

const MAX_REDIRECTS = 3;

/**
 * HTTP for sources: to public addresses (`guarded-agent.ts`), http and https only, with a deadline and a bound on the
 * body. Redirects are followed here, each one checked again; credentials stay with the origin that they were given for.
 */
export function createGuardedFetch(options: FetchOptions): GuardedFetch {
  let client: Promise<Client> | undefined;
  const load = async () => {
    try {
      return await loadClient(options);
    } catch (error) {
      // Passing (too many open files): the next request tries again.
      client = undefined;
      throw error;
    }
  };
  return {
    fetch: async (url, asked) => {
      client ??= load();
      return await follow(await client, options, url, asked);
    },
    [Symbol.asyncDispose]: async () => await (await client)?.agent.destroy(),
  };
}

type Client = { readonly agent: Agent; readonly request: typeof request };

/** Loaded with the first request: a retriever without HTTP sources uses some megabytes less. */
async function loadClient(options: FetchOptions): Promise<Client> {
  const [undici, { createGuardedAgent }] = await Promise.all([import('undici'), import('./guarded-agent.ts')]);
  return { agent: createGuardedAgent(options), request: undici.request };
}

async function follow(client: Client, options: FetchOptions, start: URL, asked: FetchRequest): Promise<FetchAnswer> {
  const { source, timeoutMs } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([asked.signal, deadline]);
  let hop: Hop = { url: start, method: asked.method ?? 'GET', body: asked.body, known: true };
  try {
    for (let hops = 0; ; hops++) {
      checkUrl(source, hop.url);
      const answer = await ask(client, options, hop, asked, signal);
      const location = answer.headers['location'];
      if (!isRedirect(answer.status) || typeof location !== 'string') return answer;
      if (hops === MAX_REDIRECTS)
        throw sourceError('SOURCE_BAD_ANSWER', source, `sent on more than ${MAX_REDIRECTS} times: check its url`);
      hop = nextHop(source, hop, answer.status, location);
    }
  } catch (error) {
    asked.signal.throwIfAborted();
    if (deadline.aborted) throw timedOut(source, timeoutMs, error);
    throw toNetworkError(source, error);
  }
}

type Hop = {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly body: string | undefined;
  /**
   * It never left the origin that the credentials are for: whoever redirected it away and back again could have chosen
   * the path.
   */
  readonly known: boolean;
};

async function ask(
  client: Client,
  { source, maxBytes, timeoutMs }: FetchOptions,
  { url, method, body, known }: Hop,
  { headers = {}, credentials = {} }: FetchRequest,
  signal: AbortSignal,
): Promise<FetchAnswer> {
  const response = await client.request(url, {
    dispatcher: client.agent,
    method,
    signal,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // A compressed body could unpack to anything.
    headers: { ...headers, 'accept-encoding': 'identity', ...(known ? credentials : {}) },
    ...(body === undefined ? {} : { body }),
  });
  // A body that is dropped unread fails; nobody needs to know, and without a listener the process would end.
  response.body.on('error', () => undefined);
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    response.body.destroy();
    throw sourceError('SOURCE_BAD_ANSWER', source, 'packed its answer although it was asked not to');
  }
  const read = await readBounded(response.body, maxBytes);
  if (read === undefined)
    throw sourceError(
      'SOURCE_TOO_LARGE',
      source,
      `answered more than ${maxBytes} bytes: narrow the question or raise maxBytes`,
    );
  return { status: response.statusCode, headers: response.headers, body: read, url };
}

function checkUrl(source: string, url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw sourceError('SOURCE_FORBIDDEN', source, `was not asked: ${url.protocol} is neither http: nor https:`);
  if (url.username !== '' || url.password !== '')
    throw sourceError('SOURCE_FORBIDDEN', source, 'was not asked: a user or password stands in the URL');
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function nextHop(source: string, { url, method, body, known }: Hop, status: number, location: string): Hop {
  if (!URL.canParse(location, url.href))
    throw sourceError('SOURCE_BAD_ANSWER', source, 'redirected to something that is not a URL');
  const next = new URL(location, url.href);
  if (url.protocol === 'https:' && next.protocol === 'http:')
    throw sourceError('SOURCE_FORBIDDEN', source, 'sent on from https to http');
  const hop = { url: next, known: known && next.origin === url.origin };
  // As browsers do it.
  if (status !== 307 && status !== 308) return { ...hop, method: 'GET', body: undefined };
  if (method === 'POST' && next.origin !== url.origin)
    throw sourceError('SOURCE_FORBIDDEN', source, 'wants the request’s body sent on to another origin');
  return { ...hop, method, body };
}

function timedOut(source: string, timeoutMs: number, cause: unknown) {
  return sourceError('SOURCE_TIMEOUT', source, `did not answer within ${timeoutMs} ms`, { cause });
}
