import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from './metrics.ts';

/** Says in one sentence what is wrong; undefined: nothing. */
export type ReadyCheck = () => string | undefined | Promise<string | undefined>;
export type ReadyChecks = Readonly<Record<string, ReadyCheck>>;

export type HealthServerOptions = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly metrics: Metrics;
  readonly checks: () => ReadyChecks;
  /** What `/health/state-schema` shows. Default: nothing. */
  readonly stateSchema?: () => unknown;
  readonly logger: Logger;
};

export type HealthServer = { readonly port: number; close(): Promise<void> };

/**
 * Not imported: that would make all exports of the module, `WebSocket` among them, and so load the engine's HTTP
 * client, 1.5 MB that no service needs.
 */
const { createServer } = process.getBuiltinModule('node:http');

const CHECK_TIMEOUT_MS = 2_000;

/**
 * `/healthz` (the event loop moves; nothing else), `/readyz` (every named check), `/metrics`, `/health/state-schema`.
 * Logs one line with `event: "listening"` and the port, at any log level, for whoever started the process.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      options.logger.warn({ err: error }, 'health request failed');
      response.writeHead(500).end();
    });
  });
  server.requestTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  options.logger.child({}, { level: 'info' }).info({ event: 'listening', healthPort: port });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(options: HealthServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') response.writeHead(405, { allow: 'GET, HEAD' }).end();
  else if (path === '/healthz') sendJson(response, 200, { status: 'live' });
  else if (path === '/readyz') {
    const checks = await runChecks(options.checks());
    const ready = Object.values(checks).every((problem) => problem === 'ok');
    sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
  } else if (path === '/metrics') {
    response.writeHead(200, { 'content-type': options.metrics.registry.contentType });
    response.end(await options.metrics.scrape());
  } else if (path === '/health/state-schema') sendJson(response, 200, options.stateSchema?.() ?? {});
  else sendJson(response, 404, { error: 'try /healthz, /readyz, /metrics or /health/state-schema' });
}

async function runChecks(checks: ReadyChecks): Promise<Record<string, string>> {
  const entries = Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function runCheck(check: ReadyCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${CHECK_TIMEOUT_MS} ms`), CHECK_TIMEOUT_MS);
  });
  try {
    return (await Promise.race([Promise.resolve().then(check), late])) ?? 'ok';
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 500) : 'failed';
  } finally {
    clearTimeout(timer);
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}
