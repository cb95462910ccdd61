import {
  AppError,
  type DataOf,
  decodeMessage,
  type Endpoint,
  type Envelope,
  encodeMessage,
  endpointSubject,
  parseSubject,
  type RequestOf,
  toAppError,
  type ValueOf,
} from '@cleanslate/contracts';
import type { Msg } from '@nats-io/nats-core';
import type { Bus } from './bus.ts';
import { encodeHeaders, type ReceivedHeaders, toReceivedHeaders } from './headers.ts';
import { ERROR_HEADERS } from './request.ts';

export type ServedRequest = { readonly subject: string; readonly body: Uint8Array; readonly headers: ReceivedHeaders };

export type ServeOptions = {
  /** Most handlers running at once. Default 64. */
  readonly concurrency?: number;
  /** Most requests waiting for a handler; further ones are answered `RATE_LIMITED` at once. Default 1,000. */
  readonly maxWaiting?: number;
  /** Called for every error that was answered. */
  readonly onError?: (error: AppError, subject: string) => void;
};

export type Served = {
  /** Takes no new requests and waits for the running ones. */
  stop(): Promise<void>;
};

/**
 * Answers requests on a subject, shared by all members of the queue group. What the handler throws is answered as an
 * error and never reaches the connection.
 */
export function serve(
  bus: Bus,
  subject: string,
  queue: string,
  handler: (request: ServedRequest) => Promise<Uint8Array> | Uint8Array,
  options: ServeOptions = {},
): Served {
  const { concurrency = 64, maxWaiting = 1_000 } = options;
  const waiting: Msg[] = [];
  const running = new Set<Promise<void>>();
  const subscription = bus.subscribe(subject, take, { queue });
  return {
    stop: async () => {
      await subscription.drain();
      while (running.size > 0) await Promise.all(running);
    },
  };

  function take(message: Msg): void {
    if (running.size < concurrency) start(message);
    else if (waiting.length < maxWaiting) waiting.push(message);
    else
      fail(
        message,
        new AppError('RATE_LIMITED', `${subject} has ${maxWaiting} requests waiting`, { retryAfterMs: 500 }),
      );
  }

  function start(message: Msg): void {
    const run = answer(message).finally(() => {
      running.delete(run);
      const next = waiting.shift();
      if (next) start(next);
    });
    running.add(run);
  }

  async function answer(message: Msg): Promise<void> {
    try {
      const headers = toReceivedHeaders(message);
      reply(message, await handler({ subject: message.subject, body: message.data, headers }));
    } catch (error) {
      fail(message, toAppError(error));
    }
  }

  function reply(message: Msg, body: Uint8Array): void {
    if (!message.reply) return;
    bus.assertFits(body.length);
    // Sent with everything else of this turn: one commit makes many answers ready.
    bus.soon(() => message.respond(body));
  }

  function fail(message: Msg, error: AppError): void {
    try {
      options.onError?.(error, message.subject);
      const text = error.message.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 500);
      const { headers } = encodeHeaders({ [ERROR_HEADERS.code]: '500', [ERROR_HEADERS.text]: text });
      if (message.reply) message.respond(new TextEncoder().encode(JSON.stringify(error.toBody())), { headers });
    } catch {
      // The connection is gone, or the observer failed; the requester will see a timeout.
    }
  }
}

export type EndpointCall<E extends Endpoint> = {
  /** From the subject, which the requester's credential restricts; equal to the envelope's. */
  readonly tenantId: string;
  readonly data: RequestOf<E>;
  readonly envelope: Envelope<DataOf<E['request']>>;
};

/** Serves an endpoint of the catalogue for all tenants: decodes, checks the tenant, answers `{ ok, value | error }`. */
export function serveEndpoint<E extends Endpoint>(
  bus: Bus,
  endpoint: E,
  source: string,
  handler: (call: EndpointCall<E>) => Promise<ValueOf<E>>,
  options: ServeOptions = {},
): Served {
  return serve(bus, endpointSubject(endpoint, '*'), endpoint.servedBy, answerCall, options);

  async function answerCall(request: ServedRequest): Promise<Uint8Array> {
    const tenantId = parseSubject(request.subject)?.tenantId ?? 'unknown';
    let requestId: string | undefined;
    const answer = async () => {
      const { envelope } = decodeMessage([endpoint.request], request.body);
      requestId = envelope.id;
      if (envelope.tenantid !== tenantId) {
        throw new AppError('TENANT_MISMATCH', 'envelope and subject name different tenants');
      }
      const call = { tenantId, data: envelope.data as RequestOf<E>, envelope: envelope as EndpointCall<E>['envelope'] };
      return { ok: true as const, value: await handler(call) };
    };
    const data = await answer().catch((thrown: unknown) => {
      const error = toAppError(thrown);
      options.onError?.(error, request.subject);
      return { ok: false as const, error: error.toBody() };
    });
    const attributes = {
      id: crypto.randomUUID(),
      source,
      time: new Date().toISOString(),
      tenantid: tenantId,
      ...(requestId === undefined ? {} : { causationid: requestId }),
    };
    return encodeMessage(endpoint.reply, attributes, data);
  }
}
