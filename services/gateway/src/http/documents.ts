import {
  AppError,
  listMessages,
  type MessageDefinition,
  toAsyncApi,
  toMessageSchema,
  toOpenApi,
  typeOf,
} from '@cleanslate/contracts';
import type { FastifyInstance } from 'fastify';

/** What can be asked of us and what travels on the bus, for generators and people; no key is needed. */
export function addDocuments(app: FastifyInstance): void {
  // Built when first asked for: most processes never are.
  const openApi = once(() => JSON.stringify(toOpenApi()));
  const asyncApi = once(() => JSON.stringify(toAsyncApi((type) => `./schemas/${type}.json`)));
  const schemas = once(() => new Map(listMessages().map((message) => [typeOf(message), once(() => toText(message))])));
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(openApi()));
  app.get('/asyncapi.json', async (_request, reply) => reply.type('application/json').send(asyncApi()));
  app.get<{ Params: { file: string } }>('/schemas/:file', async (request, reply) => {
    const type = request.params.file.replace(/\.json$/, '');
    const schema = schemas().get(type);
    if (schema === undefined) throw new AppError('NOT_FOUND', `no message ${type.slice(0, 100)}: see /asyncapi.json`);
    return reply.type('application/schema+json').send(schema());
  });
}

function toText(message: MessageDefinition): string {
  return JSON.stringify(toMessageSchema(message));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
