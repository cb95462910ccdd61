import { type Bus, callEndpoint } from '@cleanslate/bus';
import { type RequestOf, SessionRead, SessionWrite, type ValueOf } from '@cleanslate/contracts';
import { outlast } from '../worker/objects.ts';

/**
 * Where sessions are kept. Waits out an outage until the signal fires. Throws `STALE_ATTEMPT` for a claim that does not
 * hold.
 */
export type SessionStore = {
  readonly read: (request: RequestOf<typeof SessionRead>, signal: AbortSignal) => Promise<ValueOf<typeof SessionRead>>;
  readonly write: (
    request: RequestOf<typeof SessionWrite>,
    signal: AbortSignal,
  ) => Promise<ValueOf<typeof SessionWrite>>;
};

const CALL_TIMEOUT_MS = 10_000;

export function sessionStoreOf(bus: Bus, source: string): SessionStore {
  const options = { source, timeoutMs: CALL_TIMEOUT_MS };
  return {
    read: (request, signal) =>
      outlast(() => callEndpoint(bus, SessionRead, request.fence.tenantId, request, options), signal),
    // Repeated after a lost answer it changes nothing: an item replaces itself, a reset empties what is empty.
    write: (request, signal) =>
      outlast(() => callEndpoint(bus, SessionWrite, request.fence.tenantId, request, options), signal),
  };
}
