import { AppError, isAppError, MAX_BODY_BYTES, MESSAGE_BOUNDS, parseGivenJson } from '@cleanslate/contracts';
import type { ReadyChecks } from '@cleanslate/runtime';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { addPage } from '../page/routes.ts';
import { type ApiKeys, type Caller, readBearer } from './api-keys.ts';
import { addDocuments } from './documents.ts';
import { addEndpointRoutes } from './endpoint-routes.ts';
import { addEventsRoutes, type EventsRoutesOptions } from './events-routes.ts';
import { addHeaders, newRequestId } from './headers.ts';
import { refuseOtherMethods } from './methods.ts';
import { answerParserError, MAX_HEADER_BYTES } from './parser-errors.ts';
import { toProblem, toRefused } from './problem.ts';
import { type RateLimits, rateLimiter } from './rate-limit.ts';
import { remember } from './remember.ts';
import type { Sessions } from './session.ts';
import { addSubmitRoute, type SubmitRouteOptions } from './submit-route.ts';

export type HttpOptions = Omit<SubmitRouteOptions & EventsRoutesOptions, 'callerOf' | 'isStillGood' | 'onFailure'> & {
  readonly keys: ApiKeys;
  readonly sessions: Sessions;
  readonly rate: RateLimits;
  /** Origins of other pages whose browsers may call us. */
  readonly origins: ReadonlySet<string>;
  /** Addresses, ranges or names of proxies whose X-Forwarded-For is believed; default none. Separated by commas. */
  readonly trustProxy?: string | undefined;
  /** How long a change may take. Milliseconds, default 10 s. */
  readonly controlTimeoutMs?: number | undefined;
  /** As in `/readyz` of the health server, for load balancers that see only this port. */
  readonly checks: ReadyChecks;
  /** Called for every answered error of our own making (5xx). */
  readonly onFailure: (error: Error, request: FailedRequest) => void;
  readonly onAnswer?: (route: string, status: number, seconds: number) => void;
};
type FailedRequest = { readonly method: string; readonly url: string; readonly id: string };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An empty body counts as none. */
    readonly bodyOptional?: boolean;
  }
}

/** Strangers may ask whether we are ready, and each time costs a database query. */
const READY_MS = 1_000;

/** The HTTP side: API, documents, page. Errors are `application/problem+json`. */
export function createHttpServer(options: HttpOptions): FastifyInstance {
  const app = Fastify({
    trustProxy: options.trustProxy ?? false,
    bodyLimit: MAX_BODY_BYTES,
    // For the request to arrive in full; an event stream may then last as long as it likes.
    requestTimeout: 30_000,
    keepAliveTimeout: 30_000,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    genReqId: (request) => newRequestId(request.headers['x-request-id']),
    // Ids of dead letters, escaped.
    routerOptions: { maxParamLength: 700 },
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: 10_000 },
    clientErrorHandler: answerParserError,
    // A path that can't be decoded or is too long for any route.
    frameworkErrors: (error, request, reply) => {
      void answerError(error, request, reply, options.onFailure);
    },
  });
  readStrictJson(app);
  answerProblems(app, options.onFailure);
  addHeaders(app, options.origins);
  app.addHook('onResponse', async (request, reply) => {
    options.onAnswer?.(request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime / 1_000);
  });
  const methods = refuseOtherMethods(app);
  app.get('/healthz', async () => ({ status: 'ok' }));
  const problemsNow = remember(READY_MS, () => findProblems(options.checks));
  app.get('/readyz', async (_request, reply) => {
    const problems = await problemsNow();
    return await reply.code(problems.length === 0 ? 200 : 503).send({ ready: problems.length === 0, problems });
  });
  addDocuments(app);
  const takeTurn = rateLimiter(options.rate);
  const { callerOf, isStillGood } = guardApi(app, options, takeTurn);
  addSubmitRoute(app, { ...options, callerOf });
  addEventsRoutes(app, { ...options, callerOf, isStillGood });
  addEndpointRoutes(app, { ...options, callerOf });
  addPage(app, { ...options, takeTurn });
  methods.close();
  return app;
}

/** Lets running requests finish, then cuts what is left. */
export async function closeHttp(app: FastifyInstance, graceMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(cut);
}

/**
 * Every request under `/v1/` has a tenant before its body is read: a stranger makes us parse nothing, and a flood costs
 * little. The page's scripts read with the session's cookie; whatever changes something requires the key itself, which
 * no other site's page can send.
 */
function guardApi(
  app: FastifyInstance,
  { keys, sessions }: HttpOptions,
  takeTurn: (tenantId: string) => void,
): Pick<EventsRoutesOptions, 'callerOf' | 'isStillGood'> {
  const callers = new WeakMap<FastifyRequest, Caller>();
  const authenticate = async (request: FastifyRequest) => {
    const { authorization, cookie } = request.headers;
    const session = request.method === 'GET' && authorization === undefined ? sessions.readKey(cookie) : undefined;
    return await keys.authenticate(session ?? readBearer(authorization), request.ip);
  };
  app.addHook('onRequest', async (request) => {
    if (!request.routeOptions.url?.startsWith('/v1/')) return;
    const caller = await authenticate(request);
    takeTurn(caller.tenantId);
    callers.set(request, caller);
  });
  return {
    callerOf: (request) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new AppError('UNAUTHORIZED', 'no API key was sent');
      return caller;
    },
    // A database that is away has not refused anybody.
    isStillGood: (request) =>
      authenticate(request).then(
        () => true,
        (error: unknown) => !(isAppError(error) && error.code === 'UNAUTHORIZED'),
      ),
  };
}

function readStrictJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    refuseCompressed(request);
    return body.length === 0 && request.routeOptions.config.bodyOptional
      ? undefined
      : parseGivenJson(body, 'body', MESSAGE_BOUNDS);
  });
}

/** Some clients compress what is large: its bytes would only be called no JSON. */
function refuseCompressed({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return;
  const says = `the body has the content-encoding "${encoding.slice(0, 40)}": send it uncompressed`;
  throw Object.assign(new AppError('INVALID_INPUT', says), { statusCode: 415 });
}

function answerProblems(app: FastifyInstance, onFailure: HttpOptions['onFailure']): void {
  app.setNotFoundHandler((request) => {
    const path = request.url.slice(0, 200);
    const details = { remedy: 'see /openapi.json for what there is' };
    throw new AppError('NOT_FOUND', `there is no ${request.method} ${path}`, { details });
  });
  app.setErrorHandler((thrown, request, reply) => answerError(thrown, request, reply, onFailure));
}

function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  onFailure: HttpOptions['onFailure'],
): FastifyReply {
  const refused = toRefused(thrown, request.method, MAX_BODY_BYTES);
  const { status, error } = refused;
  if (status >= 500) onFailure(error, request);
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  if (status === 413) readToTheEnd(request, reply);
  const retryAfterMs = error.retryAfterMs ?? (status === 503 ? 1_000 : undefined);
  if (retryAfterMs !== undefined) void reply.header('retry-after', String(Math.ceil(retryAfterMs / 1_000)));
  const problem = toProblem(refused, request.url, request.id);
  return reply.code(status).type('application/problem+json').send(JSON.stringify(problem));
}

/**
 * A client that is still writing would find a closed connection instead of the answer. The request timeout limits how
 * long we listen.
 */
function readToTheEnd(request: FastifyRequest, reply: FastifyReply): void {
  void reply.removeHeader('connection');
  request.raw.resume();
}

/** Names only: the reasons may reveal more about the inside than the outside should know. */
async function findProblems(checks: ReadyChecks): Promise<string[]> {
  const names = Object.entries(checks).map(async ([name, check]) => {
    const problem = await Promise.resolve()
      .then(check)
      .catch(() => 'failed');
    return problem === undefined ? [] : [name];
  });
  return (await Promise.all(names)).flat();
}
