import { createHash } from 'node:crypto';
import { type Bus, callEndpoint } from '@cleanslate/bus';
import { AppError, canonicalJson, HTTP_ROUTES, type HttpRoute, mismatch, splitRequest } from '@cleanslate/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Ledger } from '../ledger.ts';
import { findQuery, SOURCE } from '../queries.ts';
import type { Caller } from './api-keys.ts';
import { fromCursor, toCursor } from './cursor.ts';
import { readBody, readFields } from './read-request.ts';

/** Longer than a scheduler takes over its restart, shorter than a proxy waits. */
const CONTROL_MS = 10_000;

export type EndpointRoutesOptions = {
  readonly bus: Bus;
  readonly ledger: Ledger;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** What answers one route; `requestId` makes a change that is asked for twice the same one. */
export type Answer = (tenantId: string, data: Record<string, unknown>, requestId: string) => Promise<unknown>;

/** Queries of ours in one transaction here; all else is asked on the bus of whom the catalogue names. */
export function toAnswer(
  { endpoint }: HttpRoute,
  { bus, ledger }: Pick<EndpointRoutesOptions, 'bus' | 'ledger'>,
): Answer {
  if (endpoint.servedBy === 'gateway') {
    const query = findQuery(endpoint);
    return (tenantId, data) => query.answer(ledger, tenantId, data);
  }
  return async (tenantId, data, requestId) => {
    // Nobody else would tell an unknown tenant from one without that task.
    await ledger.read(tenantId, async () => undefined);
    return await callEndpoint(bus, endpoint, tenantId, data, { source: SOURCE, timeoutMs: CONTROL_MS, requestId });
  };
}

/** One route for each line of the contract's list. */
export function addEndpointRoutes(app: FastifyInstance, options: EndpointRoutesOptions): void {
  for (const route of HTTP_ROUTES) {
    const { path, query, body, bodyOptional } = splitRequest(route);
    const answer = toAnswer(route, options);
    app.route({
      method: route.method.toUpperCase() as 'GET',
      url: route.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { bodyOptional },
      handler: async (request) => {
        const { tenantId } = options.callerOf(request);
        const fields = {
          ...readFields('path', path, request.params),
          ...readFields('query', query, request.query),
          ...readBody(body, request.body),
        };
        const data = route.cursor === undefined ? fields : fromCursor(fields, route.cursor);
        const checked = route.endpoint.request.data.safeParse(data);
        if (!checked.success) throw mismatch('request', checked.error);
        const value = await answer(tenantId, data, toRequestId(request, route, data));
        return route.cursor === undefined ? value : toCursor(value);
      },
    });
  }
}

const Key = z.string().min(1).max(200);

/** The same key with the same request is the same change; with another request it is another one. */
function toRequestId(request: FastifyRequest, { id }: HttpRoute, data: Record<string, unknown>): string {
  const given = request.headers['idempotency-key'];
  if (given === undefined) return crypto.randomUUID();
  const key = Key.safeParse(given);
  if (!key.success) throw new AppError('INVALID_INPUT', 'the header Idempotency-Key must have 1 to 200 characters');
  return createHash('sha256')
    .update(canonicalJson([key.data, id, data]))
    .digest('hex');
}
