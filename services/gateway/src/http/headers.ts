import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Answers are data: nothing may run, be framed, be guessed at, or be cached on the way. The HTML pages allow more. */
const SECURE = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

const SENT_BY_US = 'x-request-id, location, retry-after, www-authenticate';
const METHODS = 'GET, POST, PUT, DELETE';
const TAKEN_BY_US = 'authorization, content-type, idempotency-key, last-event-id, x-request-id';

/** The caller's own id if a log can hold it, otherwise one of ours. */
export function newRequestId(given: unknown): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

/**
 * Security headers and request id on every answer. Browsers of other origins are answered if `origins` names theirs,
 * and never with cookies; by default there are none.
 */
export function addHeaders(app: FastifyInstance, origins: ReadonlySet<string>): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...SECURE, 'x-request-id': request.id });
    if (origins.size === 0) {
      reply.header('cross-origin-resource-policy', 'same-origin');
      return;
    }
    reply.header('vary', 'origin');
    const { origin } = request.headers;
    if (origin === undefined || !origins.has(origin)) return;
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', SENT_BY_US);
    if (!isPreflight(request)) return;
    reply
      .header('access-control-allow-methods', METHODS)
      .header('access-control-allow-headers', TAKEN_BY_US)
      .header('access-control-max-age', '600');
    return reply.code(204).send();
  });
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}
