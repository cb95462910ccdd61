import { createHash } from 'node:crypto';
import { type Bus, callEndpoint } from '@cleanslate/bus';
import {
  AppError,
  canonicalJson,
  type Endpoint,
  HTTP_ROUTES,
  type HttpRoute,
  isAppError,
  KnowledgeLaunder,
  mismatch,
  splitRequest,
} from '@cleanslate/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Ledger } from '../ledger.ts';
import { findQuery, SOURCE } from '../queries.ts';
import type { Caller } from './api-keys.ts';
import { fromCursor, toCursor } from './cursor.ts';
import { readBody, readFields } from './read-request.ts';

/** Longer than a scheduler takes to restart, shorter than a proxy waits. */
const CONTROL_MS = 10_000;
/** Changes that may take longer than that, and where to see when each has ended. */
const GOES_ON: ReadonlyMap<Endpoint, string> = new Map([
  [KnowledgeLaunder, 'do not send it again: GET /v1/launderings shows its report once it has ended'],
]);

export type EndpointRoutesOptions = {
  readonly bus: Bus;
  readonly ledger: Ledger;
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** How long a change may take before the answer says that it goes on. Milliseconds, default 10 s. */
  readonly controlTimeoutMs?: number | undefined;
};

/** What answers one route; `requestId` makes a repeated change the same one. */
export type Answer = (tenantId: string, data: Record<string, unknown>, requestId: string) => Promise<unknown>;

/** Our own queries run in one transaction here; everything else is asked on the bus. */
export function toAnswer(
  { endpoint }: HttpRoute,
  { bus, ledger, controlTimeoutMs = CONTROL_MS }: Pick<EndpointRoutesOptions, 'bus' | 'ledger' | 'controlTimeoutMs'>,
): Answer {
  if (endpoint.servedBy === 'gateway') {
    const query = findQuery(endpoint);
    return (tenantId, data) => query.answer(ledger, tenantId, data);
  }
  return async (tenantId, data, requestId) => {
    // Nobody else would distinguish an unknown tenant from one without that task.
    await ledger.read(tenantId, async () => undefined);
    const call = { source: SOURCE, timeoutMs: controlTimeoutMs, requestId };
    try {
      return await callEndpoint(bus, endpoint, tenantId, data, call);
    } catch (error) {
      throw isAppError(error) && error.code === 'REQUEST_TIMEOUT' ? toUnanswered(error, endpoint, data) : error;
    }
  };
}

/** Neither yes nor no: the service asked may still be working on it. */
function toUnanswered(cause: AppError, endpoint: Endpoint, data: Record<string, unknown>): AppError {
  // A preview changes nothing and is not kept.
  const remedy = data['dryRun'] === true ? undefined : GOES_ON.get(endpoint);
  return new AppError('REQUEST_TIMEOUT', 'no answer yet: what was asked for may go on, or not have begun', {
    ...(remedy === undefined ? {} : { details: { remedy } }),
    cause,
  });
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
        if (!checked.success) throw mismatch('request', checked.error, data);
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
