import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does instead of answering. */
export const STAND_IN_FAULTS = [
  'silent',
  'stops',
  'cut',
  'rate-limited',
  'error',
  'forbidden',
  'no-json',
  'other-form',
  'huge',
] as const;
export type StandInFault = (typeof STAND_IN_FAULTS)[number];

export type StandInRequest = {
  readonly method: string;
  /** Path and query. */
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};
export type StandInAnswer = {
  readonly status?: number;
  readonly json: unknown;
  /** Instead of `json`, letter by letter. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A real HTTP server on the loopback that stands for somebody else's. */
export type StandIn = AsyncDisposable & {
  readonly url: string;
  /** `127.0.0.1:port`, as a configuration allows it. */
  readonly host: string;
  /** Everything it was asked, also where it misbehaved. */
  readonly requests: readonly StandInRequest[];
  /** From now on it does this with every request; null: it answers again. */
  misbehave(fault: StandInFault | null): void;
  /** Requests whose caller went away before the answer was whole. */
  readonly abandoned: number;
};

export async function startStandIn(answer: (request: StandInRequest) => StandInAnswer): Promise<StandIn> {
  const requests: StandInRequest[] = [];
  let fault: StandInFault | null = null;
  let abandoned = 0;
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) abandoned += 1;
    });
    void take(request, response).catch(() => response.destroy());
  });
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const url = new URL(request.url ?? '/', 'http://stand-in');
    const taken = {
      method: request.method ?? '',
      url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(taken);
    if (fault !== null) return misbehave(fault, response);
    const { status = 200, json, text, headers = {} } = answer(taken);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text ?? JSON.stringify(json));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    requests,
    misbehave: (next) => {
      fault = next;
    },
    get abandoned() {
      return abandoned;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function misbehave(fault: StandInFault, response: ServerResponse): void {
  const json = { 'content-type': 'application/json' };
  if (fault === 'silent') return;
  if (fault === 'stops') response.writeHead(200, json).write('{"results": [');
  else if (fault === 'cut') response.destroy();
  else if (fault === 'rate-limited') response.writeHead(429, { 'retry-after': '7' }).end();
  else if (fault === 'error') response.writeHead(500, json).end('{"message":"canary of the server"}');
  else if (fault === 'forbidden') response.writeHead(403).end();
  else if (fault === 'no-json')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>canary, please sign in</html>');
  else if (fault === 'other-form')
    response.writeHead(200, json).end('{"result":17,"results":"none","items":{"a":true}}');
  else pour(response);
}

/** A body without an end. */
function pour(response: ServerResponse): void {
  const block = Buffer.alloc(64 * 1024, 'x');
  const more = () => {
    while (!response.destroyed && response.write(block));
    response.once('drain', more);
  };
  more();
}
