import type { Bus, Publisher } from '@cleanslate/bus';
import { submitTask } from '@cleanslate/client';
import { AppError, SubmitBody } from '@cleanslate/contracts';
import { parseTraceparent } from '@cleanslate/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Ledger } from '../ledger.ts';
import { SOURCE } from '../queries.ts';
import type { Caller } from './api-keys.ts';
import { parse } from './read-request.ts';

export type SubmitRouteOptions = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly ledger: Ledger;
  /** How long it waits for the ledger. Milliseconds. */
  readonly submitTimeoutMs: number;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

export function addSubmitRoute(app: FastifyInstance, options: SubmitRouteOptions): void {
  app.post('/v1/tasks', async (request, reply) => {
    const { tenantId } = options.callerOf(request);
    const body = parse('body', SubmitBody, request.body);
    const wire = { bus: options.bus, publisher: options.publisher, tenantId, source: SOURCE, requestTimeoutMs: 5_000 };
    const key = keyOf(request, body.key);
    // An unknown tenant would wait in vain for the scheduler.
    await options.ledger.read(tenantId, async () => undefined);
    const traceparent = traceOf(request);
    const submitted = await submitTask(wire, { ...body, key }, { timeoutMs: options.submitTimeoutMs, traceparent });
    void reply.header('location', `/v1/tasks/${submitted.taskId}`);
    return await reply.code(submitted.duplicate ? 200 : 202).send(submitted);
  });
}

/** W3C trace context of the caller; a malformed one is ignored. */
function traceOf(request: FastifyRequest): string | undefined {
  const header = request.headers['traceparent'];
  return typeof header === 'string' && parseTraceparent(header) !== undefined ? header : undefined;
}

/** The `Idempotency-Key` header is the key, as HTTP clients expect. */
function keyOf(request: FastifyRequest, key: string | undefined): string | undefined {
  const header = request.headers['idempotency-key'];
  if (typeof header !== 'string') return key;
  if (key !== undefined && key !== header)
    throw new AppError('INVALID_INPUT', 'the header Idempotency-Key and the field "key" differ: send one of them');
  return header;
}
