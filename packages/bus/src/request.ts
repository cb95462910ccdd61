import {
  AppError,
  decodeFromService,
  type Endpoint,
  ErrorBody,
  encodeMessage,
  endpointSubject,
  isAppError,
  type RequestOf,
  type ValueOf,
} from '@cleanslate/contracts';
import { errors, type Msg } from '@nats-io/nats-core';
import type { Bus } from './bus.ts';
import { encodeHeaders } from './headers.ts';

/**
 * Set on the answer to a raw request whose handler failed; the body is then an `ErrorBody`.
 * (The names NATS micro uses.)
 */
export const ERROR_HEADERS = { code: 'Nats-Service-Error-Code', text: 'Nats-Service-Error' } as const;

export type RequestOptions = {
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * One request, one answer. Throws `REQUEST_TIMEOUT` (the other side may have acted), `BROKER_UNAVAILABLE` (nobody
 * serves the subject, or no connection: nothing happened), `UNAUTHORIZED`, `PAYLOAD_TOO_LARGE`, or the error the
 * handler answered.
 */
export async function request(
  bus: Bus,
  subject: string,
  body: Uint8Array,
  options: RequestOptions,
): Promise<Uint8Array> {
  const headers = options.headers && encodeHeaders(options.headers);
  bus.assertFits(body.length + (headers?.bytes ?? 0));
  if (!bus.connected) throw new AppError('BROKER_UNAVAILABLE', `${subject}: not connected to the broker`);
  let reply: Msg;
  try {
    reply = await bus.raw.request(subject, body, {
      timeout: options.timeoutMs,
      ...(headers === undefined ? {} : { headers: headers.headers }),
    });
  } catch (error) {
    throw toRequestError(subject, options.timeoutMs, error);
  }
  if (reply.headers?.get(ERROR_HEADERS.code)) throw answeredError(subject, reply);
  return reply.data;
}

/**
 * Asks everyone who listens and collects what arrives within `timeoutMs`, or until `max` answers have come. Nobody
 * there: an empty list. Throws `BROKER_UNAVAILABLE` without a connection.
 */
export async function requestMany(
  bus: Bus,
  subject: string,
  body: Uint8Array,
  options: RequestOptions & { readonly max?: number },
): Promise<Uint8Array[]> {
  if (!bus.connected) throw new AppError('BROKER_UNAVAILABLE', `${subject}: not connected to the broker`);
  const answers: Uint8Array[] = [];
  try {
    const replies = await bus.raw.requestMany(subject, body, {
      maxWait: options.timeoutMs,
      strategy: options.max === undefined ? 'timer' : 'count',
      maxMessages: options.max ?? -1,
    });
    for await (const reply of replies) answers.push(reply.data);
  } catch (error) {
    if (isNoResponders(error)) return answers;
    throw toRequestError(subject, options.timeoutMs, error);
  }
  return answers;
}

export type CallOptions = {
  /** `source` of the envelope: `/tenants/acme/cli`. */
  readonly source: string;
  /** Milliseconds, default 5 s. */
  readonly timeoutMs?: number;
  /** Makes a repeated `ctl` request the same one. Default: random. */
  readonly requestId?: string;
};

/** Calls an endpoint of the catalogue. Throws what `request` throws, and the error the endpoint answered. */
export async function callEndpoint<E extends Endpoint>(
  bus: Bus,
  endpoint: E,
  tenantId: string,
  data: RequestOf<E>,
  options: CallOptions,
): Promise<ValueOf<E>> {
  const attributes = {
    id: options.requestId ?? crypto.randomUUID(),
    source: options.source,
    time: new Date().toISOString(),
    tenantid: tenantId,
  };
  const body = encodeMessage(endpoint.request, attributes, data);
  const bytes = await request(bus, endpointSubject(endpoint, tenantId), body, {
    timeoutMs: options.timeoutMs ?? 5_000,
  });
  const reply = decodeFromService([endpoint.reply], bytes).envelope.data;
  if (reply.ok) return reply.value as ValueOf<E>;
  throw AppError.fromBody(reply.error);
}

function toRequestError(subject: string, timeoutMs: number, error: unknown): AppError {
  if (isAppError(error)) return error;
  const cause = { cause: error };
  if (isNoResponders(error)) return new AppError('BROKER_UNAVAILABLE', `nobody serves ${subject} at the moment`, cause);
  if (error instanceof errors.TimeoutError) {
    return new AppError('REQUEST_TIMEOUT', `no answer on ${subject} within ${timeoutMs} ms`, cause);
  }
  const reason = error instanceof Error ? error.message : String(error);
  const denied =
    error instanceof Error && [error, error.cause].some((e) => e instanceof errors.PermissionViolationError);
  if (denied) return new AppError('UNAUTHORIZED', `this credential may not ask ${subject}`, cause);
  return new AppError('BROKER_UNAVAILABLE', `${subject}: ${reason}`, cause);
}

function isNoResponders(error: unknown): boolean {
  if (error instanceof errors.NoRespondersError) return true;
  return error instanceof errors.RequestError && error.isNoResponders();
}

function answeredError(subject: string, reply: Msg): AppError {
  try {
    return AppError.fromBody(ErrorBody.parse(reply.json()));
  } catch {
    return new AppError('INTERNAL', `${subject} answered an error: ${reply.headers?.get(ERROR_HEADERS.text) ?? ''}`);
  }
}
