import { setTimeout } from 'node:timers/promises';
import { type Bus, callEndpoint, type Publisher } from '@cleanslate/bus';
import { type Endpoint, isAppError, type RequestOf, type ValueOf } from '@cleanslate/contracts';

/** One tenant's view of an open connection: all that submit, watch and the queries need. */
export type Wire = {
  readonly bus: Bus;
  readonly publisher: Publisher;
  readonly tenantId: string;
  /** CloudEvents `source` of what is sent: `/tenants/demo/cli`. */
  readonly source: string;
  /** How long one request waits for its answer. Milliseconds. */
  readonly requestTimeoutMs: number;
};

/** Asks an endpoint as this tenant. Throws what the endpoint answered, `REQUEST_TIMEOUT`, `BROKER_UNAVAILABLE`. */
export function ask<E extends Endpoint>(wire: Wire, endpoint: E, data: RequestOf<E>): Promise<ValueOf<E>> {
  return callEndpoint(wire.bus, endpoint, wire.tenantId, data, {
    source: wire.source,
    timeoutMs: wire.requestTimeoutMs,
  });
}

/**
 * Like `ask`, for endpoints that change something: repeated with one request id through a short outage, so that it
 * happens once.
 */
export function change<E extends Endpoint>(
  wire: Wire,
  endpoint: E,
  data: RequestOf<E>,
  requestId: string = crypto.randomUUID(),
): Promise<ValueOf<E>> {
  return repeat(wire, endpoint, data, requestId, isAway);
}

/**
 * Like `change`, for what starts over each time it is asked for: repeated only if nobody received it. Without an answer
 * in time it may still be running.
 */
export function changeOnce<E extends Endpoint>(wire: Wire, endpoint: E, data: RequestOf<E>): Promise<ValueOf<E>> {
  const isUnheard = (error: unknown) => isAppError(error) && error.code === 'BROKER_UNAVAILABLE';
  return repeat(wire, endpoint, data, crypto.randomUUID(), isUnheard);
}

async function repeat<E extends Endpoint>(
  wire: Wire,
  endpoint: E,
  data: RequestOf<E>,
  requestId: string,
  isWorthIt: (error: unknown) => boolean,
): Promise<ValueOf<E>> {
  const call = { source: wire.source, timeoutMs: wire.requestTimeoutMs, requestId };
  const giveUpAt = performance.now() + 2 * wire.requestTimeoutMs;
  for (;;) {
    try {
      return await callEndpoint(wire.bus, endpoint, wire.tenantId, data, call);
    } catch (error) {
      if (performance.now() >= giveUpAt || !isWorthIt(error)) throw error;
      await setTimeout(AGAIN_MS);
    }
  }
}

const AGAIN_MS = 250;

/** Nobody answers: neither yes nor no. */
export function isAway(error: unknown): boolean {
  return isAppError(error) && (error.code === 'BROKER_UNAVAILABLE' || error.code === 'REQUEST_TIMEOUT');
}
