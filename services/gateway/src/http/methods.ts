import { AppError } from '@cleanslate/contracts';
import type { FastifyInstance } from 'fastify';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/**
 * For an existing path with a wrong method: 405 with the allowed ones, not 404. Call it before the first route is
 * added.
 */
export function refuseOtherMethods(app: FastifyInstance): { close(): void } {
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = known.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    known.set(url, methods);
  });
  return {
    close: () => {
      for (const [url, methods] of [...known]) {
        const allow = [...methods].join(', ');
        const others = METHODS.filter((method) => !methods.has(method));
        app.route({
          method: others,
          url,
          // Before anything is read: no body would make it right.
          onRequest: async (request, reply) => {
            reply.header('allow', allow);
            const remedy = `use ${allow}`;
            const options = { details: { remedy, in: 'url' } };
            const error = new AppError('INVALID_INPUT', `${url} takes no ${request.method}`, options);
            throw Object.assign(error, { statusCode: 405 });
          },
          handler: () => undefined,
        });
      }
    },
  };
}
